/**
 * Controls of a page: buttons, choices, checkboxes, the theme, and lists of facts.
 *
 * Invariants: a control has a name that is read aloud; text is text: nothing foreign becomes markup.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { Fragment } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

/** Words keep the name that is seen, and the label describes them; it is the name of a button that shows a sign. */
const namesOf = (text: string, label: string) => {
  if (text === label) return {};
  return /\p{L}{2}/u.test(text) ? { title: label } : { "aria-label": label, title: label };
};

type ButtonParts = { text: string; label?: string; act: () => void };

/** A button; further attributes are those of HTML. */
export const Button = ({ text, label = text, act, ...rest }: ButtonParts & ButtonHTMLAttributes<HTMLButtonElement>) => (
  <button type="button" {...namesOf(text, label)} onClick={act} {...rest}>
    {text}
  </button>
);

export type Choices = readonly (readonly [value: string, text: string])[];

/** Returns the value if it is offered, else the first that is. */
export const chosenOf = (value: string, choices: Choices) =>
  choices.some(([offered]) => offered === value) ? value : (choices[0]?.[0] ?? "");

/** A selection of one of several texts. A value that is not offered shows the first one. */
export const Choice = ({
  label,
  value,
  choices,
  act,
  ...rest
}: {
  label: string;
  value: string;
  choices: Choices;
  act: (value: string) => void;
  class?: string;
  hidden?: boolean;
}) => (
  <select
    aria-label={label}
    value={chosenOf(value, choices)}
    onChange={({ currentTarget }) => act(currentTarget.value)}
    {...rest}
  >
    {choices.map(([offered, text]) => (
      <option key={offered} value={offered}>
        {text}
      </option>
    ))}
  </select>
);

/** Value of a control that shows and changes a signal. */
export const bound = <T,>(of: Signal<T>) => ({
  value: of.value,
  act: (value: T) => {
    of.value = value;
  },
});

/** Choices whose texts are their values. */
export const plainChoices = (names: readonly string[]): Choices => names.map((name) => [name, name]);

/** A field for words that a list is filtered by. */
export const Search = ({ label, of }: { label: string; of: Signal<string> }) => (
  <input
    type="search"
    placeholder="filter by words"
    aria-label={label}
    value={of.value}
    onInput={({ currentTarget }) => {
      of.value = currentTarget.value;
    }}
  />
);

/** A labelled checkbox. */
export const Toggle = ({ name, of }: { name: string; of: Signal<boolean> }) => (
  <label>
    <input
      type="checkbox"
      checked={of.value}
      onChange={({ currentTarget }) => {
        of.value = currentTarget.checked;
      }}
    />
    {name}
  </label>
);

/** A list of names with what belongs to each. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: ComponentChildren, text: string])[] }) => (
  <dl class="facts">
    {facts.map(([name, text], place) => (
      <Fragment key={place}>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </Fragment>
    ))}
  </dl>
);

/**
 * The button that turns light to dark and back. Until it is pressed the page follows the system.
 *
 * @param keptAs - name under which this browser keeps the choice; without one it ends with the page
 * @param changed - is called after each change of colours
 */
export const ThemeButton = ({ keptAs, changed }: { keptAs?: string; changed: () => void }) => {
  const root = document.documentElement;
  const system = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const isDarkNow = () => (root.dataset["theme"] ?? (system.matches ? "dark" : "light")) === "dark";
  const isDark = useSignal(isDarkNow());
  const update = () => {
    isDark.value = isDarkNow();
    changed();
  };
  useLayoutEffect(() => {
    const kept = keptAs === undefined ? null : localStorage.getItem(keptAs);
    if (kept === "light" || kept === "dark") {
      root.dataset["theme"] = kept;
      update();
    }
    system.addEventListener("change", update);
    return () => system.removeEventListener("change", update);
  }, []);
  const turn = () => {
    root.dataset["theme"] = isDarkNow() ? "light" : "dark";
    if (keptAs !== undefined) localStorage.setItem(keptAs, root.dataset["theme"]);
    update();
  };
  const sign = isDark.value ? "☀" : "☾";
  const other = isDark.value ? "light" : "dark";
  return <Button text={keptAs === undefined ? `${sign} ${other}` : sign} label={`use ${other} colours`} act={turn} />;
};
