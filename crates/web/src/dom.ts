// Building elements without strings of HTML: text stays text.

type Attributes = Record<string, string | number | boolean | EventListener | undefined>;
type Child = Node | string | undefined | false;

/** An element with attributes (`onclick` and the like are listeners, `false` and `undefined`
 *  leave one out) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

/** The message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of an error as an alert. */
export function trouble(error: unknown): HTMLElement {
  return h("p", { class: "problem", role: "alert" }, messageOf(error));
}

/** Sets a text that is new, so that nobody is told the same twice. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Something to choose, by its `value`. */
export interface Option {
  readonly value: string;
  readonly label: string;
  /** Heading under which a drop-down lists it. */
  readonly group?: string;
}

/** Options that are called as they are. */
export function optionsNamed<const Name extends string>(names: readonly Name[]): { value: Name; label: Name }[] {
  return names.map((value) => ({ value, label: value }));
}

/** A drop-down with these attributes. */
export function dropDown<const O extends Option>(attributes: Attributes, options: readonly O[], value: string, onChange: (chosen: O) => void): HTMLSelectElement {
  const select = h("select", { class: "select", ...attributes, onchange: () => choose() });
  const choose = (): void => options.filter((option) => option.value === select.value).forEach(onChange);
  const groups = new Map<string | undefined, HTMLElement>([[undefined, select]]);
  for (const { value: name, label, group } of options) {
    if (!groups.has(group)) {
      const element = h("optgroup", { label: group });
      groups.set(group, element);
      select.append(element);
    }
    groups.get(group)?.append(h("option", { value: name, selected: name === value }, label));
  }
  return select;
}

/** A drop-down with a visible label. */
export function selectField<const O extends Option>(label: string, options: readonly O[], value: string, onChange: (chosen: O) => void): HTMLElement {
  return h("label", { class: "field" }, label, dropDown({}, options, value, onChange));
}

/** A small menu of things to do; it closes after a choice, on Escape, and when something else
 *  gets the focus. */
export function menu(label: string, name: string, items: readonly { label: string; run: () => void }[]): HTMLElement {
  const details = h("details", { class: "menu" });
  const close = (): void => {
    details.open = false;
  };
  const buttons = items.map((item) => h("button", { type: "button", class: "button quiet", onclick: () => (close(), item.run()) }, item.label));
  details.append(h("summary", { "aria-label": name }, label), h("div", { class: "menu-items" }, ...buttons));
  details.addEventListener("focusout", (event) => {
    if (!details.contains(event.relatedTarget as Node | null)) close();
  });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    close();
    details.querySelector("summary")?.focus();
  });
  return details;
}

/** A row of buttons of which one is pressed. */
export function segmented<const O extends Option>(label: string, options: readonly O[], value: string, onChange: (chosen: O) => void): HTMLElement {
  const buttons = options.map((option) => h("button", { type: "button", "aria-pressed": String(option.value === value), onclick: () => choose(option) }, option.label));
  const choose = (chosen: O): void => {
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(options[at] === chosen)));
    onChange(chosen);
  };
  return h("div", { class: "segmented", role: "group", "aria-label": label }, ...buttons);
}
