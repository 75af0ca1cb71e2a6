/**
 * State that outlives the component that uses it, so that a view that is opened again is as it was left.
 *
 * Invariants: one value for each name and page; the page as a whole owns the values.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** Owner of the values: a component at the top provides a map. */
export const Kept = createContext<Map<string, unknown> | undefined>(undefined);

/**
 * Returns the value of a name. The first component that asks for it creates it.
 *
 * @throws Error outside of `Kept.Provider`
 */
export const useKept = <T>(name: string, create: () => T): T => {
  const kept = useContext(Kept);
  if (kept === undefined) throw new Error("Nothing keeps values: put the page into <Kept.Provider>.");
  if (!kept.has(name)) kept.set(name, create());
  return kept.get(name) as T;
};
