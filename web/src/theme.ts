import { h, setText } from "./dom";

// Light or dark: the system's setting, until the user chooses.

const key = "tributary-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
const cache = new Map<string, string>();

type Wish = "auto" | "light" | "dark";

function stored(): Wish {
  try {
    const wish = localStorage.getItem(key);
    return wish === "light" || wish === "dark" ? wish : "auto";
  } catch {
    return "auto";
  }
}

let wish: Wish = stored();

function apply(): void {
  document.documentElement.dataset.theme = wish === "auto" ? (system.matches ? "dark" : "light") : wish;
  cache.clear();
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  system.addEventListener("change", apply);
  apply();
}

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

// A colour of the style sheet, for canvas painting.
export function colour(name: string): string {
  let value = cache.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    cache.set(name, value);
  }
  return value;
}

export function themeSwitch(): HTMLElement {
  const next: Record<Wish, Wish> = { auto: "light", light: "dark", dark: "auto" };
  const icon = h("span", { "aria-hidden": "true" });
  const label = h("span", {});
  const button = h("button", { type: "button", class: "quiet", "data-testid": "theme" }, icon, label);
  const show = () => {
    setText(icon, { auto: "◐", light: "☀", dark: "☾" }[wish]);
    setText(label, { auto: " Auto", light: " Light", dark: " Dark" }[wish]);
    button.setAttribute("aria-label", `Theme: ${wish}. Change to ${next[wish]}.`);
  };
  button.addEventListener("click", () => {
    wish = next[wish];
    try {
      localStorage.setItem(key, wish);
    } catch {
      // The choice then lasts until the page is closed.
    }
    show();
    apply();
  });
  show();
  return button;
}
