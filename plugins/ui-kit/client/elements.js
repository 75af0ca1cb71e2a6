/**
 * Elements of the page, made from plain values.
 *
 * Invariants: text is text: nothing foreign becomes markup.
 */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, string | boolean>} attributes those that are false are left out @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const element = (tag, attributes, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};

/** @param {string} text @param {string} label @param {() => void} act @param {Record<string, string>} [attributes] */
export const button = (text, label, act, attributes = {}) => {
  const made = element(
    "button",
    { type: "button", ...(label === text ? {} : { "aria-label": label, title: label }), ...attributes },
    text,
  );
  made.addEventListener("click", act);
  return made;
};

/**
 * @param {string} label @param {readonly (readonly [value: string, text: string])[]} choices @param {(value: string) => void} act
 */
export const choice = (label, choices, act) => {
  const made = element(
    "select",
    { "aria-label": label },
    ...choices.map(([value, text]) => element("option", { value }, text)),
  );
  made.addEventListener("change", () => act(made.value));
  return made;
};
