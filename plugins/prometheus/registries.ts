/**
 * Registries of running Prometheus plugins, for a server of one's own: `metricsText("prometheus")`.
 *
 * Invariants: a registry is here from the plugin's start to its end; of two plugins with one name in a process the
 * later one is found.
 */

/** The part of a registry of prom-client that is used. */
export interface Registry {
  readonly contentType: string;
  metrics(): Promise<string>;
}

const registries = new Map<string, Registry>();

export const keepRegistry = (name: string, registry: Registry): (() => void) => {
  registries.set(name, registry);
  return () => {
    if (registries.get(name) === registry) registries.delete(name);
  };
};

/**
 * All metrics of the plugin of this name (`as` in its config) as Prometheus reads them, and their content type;
 * undefined while no such plugin runs.
 */
export const metricsText = async (
  name = "prometheus",
): Promise<{ readonly contentType: string; readonly text: string } | undefined> => {
  const registry = registries.get(name);
  return registry === undefined ? undefined : { contentType: registry.contentType, text: await registry.metrics() };
};
