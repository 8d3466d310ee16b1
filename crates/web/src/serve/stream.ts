// Server-sent events, by name.

/** Handlers by the event's name, each with its data already read. */
export type Handlers<Events> = { readonly [Name in keyof Events]?: (data: Events[Name]) => void };

/** Listens to `path` until `close` is called. The browser reconnects by itself after a break;
 *  `onBreak` is called at each change. */
export function listen<Events>(path: string, handlers: Handlers<Events>, onBreak: (isBroken: boolean, isFinal: boolean) => void): { close(): void } {
  const source = new EventSource(path);
  let isBroken = false;
  source.addEventListener("open", () => {
    if (isBroken) onBreak(false, false);
    isBroken = false;
  });
  source.addEventListener("error", () => {
    isBroken = true;
    onBreak(true, source.readyState === EventSource.CLOSED);
  });
  for (const [name, handle] of Object.entries(handlers) as [string, ((data: unknown) => void) | undefined][]) {
    if (handle) source.addEventListener(name, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as unknown));
  }
  return source;
}
