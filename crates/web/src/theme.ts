// Light or dark: the system's choice until the reader makes one.

import { h } from "./dom.ts";

const KEY = "goodqueue.theme";

/** A button that switches the theme; `onChange` runs after each change, the system's included. */
export function themeButton(onChange: () => void): HTMLElement {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = (): boolean => {
    const chosen = document.documentElement.dataset["theme"];
    return chosen ? chosen === "dark" : system.matches;
  };
  const button = h("button", { type: "button", class: "button theme", onclick: () => choose(isDark() ? "light" : "dark") });
  const label = (): void => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  const choose = (theme: string): void => {
    document.documentElement.dataset["theme"] = theme;
    remember(theme);
    label();
    onChange();
  };
  system.addEventListener("change", () => {
    label();
    onChange();
  });
  const before = remembered();
  if (before === "light" || before === "dark") document.documentElement.dataset["theme"] = before;
  label();
  return button;
}

/** Pages opened from a file may have no storage; then the choice lasts as long as the page. */
function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The theme is already applied; it is just not stored.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
