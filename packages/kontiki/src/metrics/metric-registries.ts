import { type Labels, MetricRegistry, type RegistryInfo } from './metric-registry.js';

/** Told of registries that come and go, such as by an exporter. */
export interface RegistryHook {
  start(registry: MetricRegistry): void;
  stop(registry: MetricRegistry): void;
}

interface Entry {
  readonly registry: MetricRegistry;
  users: number;
}

function keyOf(info: RegistryInfo): string {
  return JSON.stringify([info.prefix, info.application, info.component, info.description]);
}

/**
 * The registries of a process or of a test, counted by use: parts that name the same registry share
 * it, and the last one to leave drops it (spec: metrics 1).
 */
export class MetricRegistries {
  private readonly entries = new Map<string, Entry>();
  private readonly hooks = new Set<RegistryHook>();

  /** The registry of `info`, made when there is none. Pair each call with one of `release`. */
  acquire(info: RegistryInfo, labels?: Labels): MetricRegistry {
    const key = keyOf(info);
    const existing = this.entries.get(key);
    if (existing !== undefined) {
      existing.users++;
      return existing.registry;
    }
    const registry = new MetricRegistry(info, labels);
    this.entries.set(key, { registry, users: 1 });
    for (const hook of this.hooks) hook.start(registry);
    return registry;
  }

  /** Gives a registry back; true when that dropped it. */
  release(info: RegistryInfo): boolean {
    const key = keyOf(info);
    const entry = this.entries.get(key);
    if (entry === undefined) return false;
    entry.users--;
    if (entry.users > 0) return false;
    this.entries.delete(key);
    for (const hook of this.hooks) hook.stop(entry.registry);
    return true;
  }

  /** The registry of `info`, if there is one; its count stays. */
  get(info: RegistryInfo): MetricRegistry | undefined {
    return this.entries.get(keyOf(info))?.registry;
  }

  /** All registries, oldest first. */
  list(): MetricRegistry[] {
    return [...this.entries.values()].map(({ registry }) => registry);
  }

  /** Adds a hook and starts it for the registries that exist already. */
  addHook(hook: RegistryHook): void {
    if (this.hooks.has(hook)) return;
    this.hooks.add(hook);
    for (const { registry } of this.entries.values()) hook.start(registry);
  }

  removeHook(hook: RegistryHook): void {
    this.hooks.delete(hook);
  }
}
