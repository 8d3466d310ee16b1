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

/** A drop-down with a visible label. */
export function selectField(
  label: string,
  options: readonly { value: string; label: string; group?: string }[],
  value: string,
  onChange: (value: string) => void,
): HTMLElement {
  const select = h("select", { class: "select", onchange: () => onChange(select.value) });
  const groups = new Map<string, HTMLElement>();
  for (const option of options) {
    const element = h("option", { value: option.value, selected: option.value === value }, option.label);
    if (option.group === undefined) {
      select.append(element);
      continue;
    }
    let group = groups.get(option.group);
    if (!group) {
      group = h("optgroup", { label: option.group });
      groups.set(option.group, group);
      select.append(group);
    }
    group.append(element);
  }
  return h("label", { class: "field" }, label, select);
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
export function segmented(label: string, options: readonly { value: string; label: string }[], value: string, onChange: (value: string) => void): HTMLElement {
  const buttons = options.map((option) =>
    h("button", { type: "button", "aria-pressed": String(option.value === value), "data-value": option.value, onclick: () => choose(option.value) }, option.label),
  );
  const choose = (chosen: string): void => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset["value"] === chosen));
    onChange(chosen);
  };
  return h("div", { class: "segmented", role: "group", "aria-label": label }, ...buttons);
}
