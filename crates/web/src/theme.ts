// Light or dark: the system's choice until the reader makes one.

import { h } from "./dom.ts";

const KEY = "goodqueue.theme";

/** A button that switches the theme; `onChange` runs after each change, the system's included. */
export function themeButton(onChange: () => void): HTMLElement {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = (): boolean => {
    const chosen = document.documentElement.style.colorScheme;
    return chosen ? chosen === "dark" : system.matches;
  };
  const button = h("button", { type: "button", class: "button theme", onclick: () => choose(isDark() ? "light" : "dark") });
  const label = (): void => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  const choose = (theme: string): void => {
    document.documentElement.style.colorScheme = theme;
    stored((storage) => storage.setItem(KEY, theme));
    label();
    onChange();
  };
  system.addEventListener("change", () => {
    label();
    onChange();
  });
  const before = stored((storage) => storage.getItem(KEY));
  if (before === "light" || before === "dark") document.documentElement.style.colorScheme = before;
  label();
  return button;
}

/** The result of `work`. Pages opened from a file may have no storage; then a choice lasts as long
 *  as the page. */
function stored<T>(work: (storage: Storage) => T): T | undefined {
  try {
    return work(localStorage);
  } catch {
    return undefined;
  }
}
