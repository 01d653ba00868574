type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

// Creates an element. Functions become listeners; true and false set or omit an attribute. Strings become
// text, never markup, since names, reasons and notes come from devices.
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as (event: Event) => void);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

// These write only changes, so that an unchanged update causes no layout.
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function setHidden(element: HTMLElement, hidden: boolean): void {
  if (element.hidden !== hidden) element.hidden = hidden;
}

export interface Choice<T extends string> {
  element: HTMLElement;
  show(value: T): void;
}

// A row of buttons, one of which is pressed.
export function choice<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  chosen: T,
  onChoose: (value: T) => void,
): Choice<T> {
  const buttons = options.map(([value, text]) =>
    h("button", { type: "button", "data-value": value, click: () => { show(value); onChoose(value); } }, text),
  );
  const element = h("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
  const show = (value: T) => {
    for (const button of buttons) setAttribute(button, "aria-pressed", String(button.dataset.value === value));
  };
  show(chosen);
  return { element, show };
}
