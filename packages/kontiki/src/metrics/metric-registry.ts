import { InvalidArgumentError } from '../common/errors.js';
import { Counter } from './counter.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';
import { Timer } from './timer.js';

/** Names and values that tell metrics of one name apart for an exporter. */
export type Labels = Readonly<Record<string, string>>;

/** What a registry is known by; all four parts together (spec: metrics 1). */
export interface RegistryInfo {
  /** Usually the member id. */
  readonly prefix: string;
  readonly application: string;
  readonly component: string;
  readonly description: string;
}

/** A function that is read when the metrics are. Undefined leaves the gauge out. */
export type Gauge = () => number | undefined;

interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram' | 'timer';
  readonly labels: Labels;
  readonly instrument: Counter | Gauge | Histogram | Timer;
}

interface SampleName {
  /** Name within the registry. */
  readonly name: string;
  /** `<application>.<component>.<prefix>.<name>` */
  readonly fullName: string;
  readonly labels: Labels;
}

/** The state of one metric. Timers are in milliseconds. */
export type MetricSample = SampleName &
  (
    | { readonly kind: 'counter' | 'gauge'; readonly value: number }
    | { readonly kind: 'histogram' | 'timer'; readonly histogram: HistogramSnapshot }
  );

const NO_LABELS: Labels = Object.freeze({});

/**
 * The metrics of one part of the system. Asking for a metric again gives the same one; look them
 * up once and keep them, so that an update is a plain addition.
 */
export class MetricRegistry {
  readonly info: RegistryInfo;
  /** Labels of every metric in it. */
  readonly labels: Labels;
  private readonly metrics = new Map<string, Metric>();

  constructor(info: RegistryInfo, labels: Labels = NO_LABELS) {
    this.info = info;
    this.labels = labels;
  }

  counter(name: string, labels: Labels = NO_LABELS): Counter {
    return this.find(name, 'counter', labels, () => new Counter());
  }

  timer(name: string, labels: Labels = NO_LABELS): Timer {
    return this.find(name, 'timer', labels, () => new Timer());
  }

  /** `resolution` is the width of the finest bucket; only the first registration sets it. */
  histogram(name: string, resolution = 1, labels: Labels = NO_LABELS): Histogram {
    return this.find(name, 'histogram', labels, () => new Histogram(resolution));
  }

  /** Registers a function to read; the first one under a name stays (spec: metrics 1). */
  gauge(name: string, read: Gauge, labels: Labels = NO_LABELS): void {
    this.find(name, 'gauge', labels, () => read);
  }

  /** True when there was such a metric. */
  remove(name: string): boolean {
    return this.metrics.delete(name);
  }

  /** The state of all metrics, in the order of registration. */
  snapshot(): MetricSample[] {
    const samples: MetricSample[] = [];
    for (const [name, metric] of this.metrics) {
      const sample = this.sample(name, metric);
      if (sample !== undefined) samples.push(sample);
    }
    return samples;
  }

  private sample(name: string, metric: Metric): MetricSample | undefined {
    const { prefix, application, component } = this.info;
    const fullName = `${application}.${component}.${prefix}.${name}`;
    const base = { name, fullName, labels: { ...this.labels, ...metric.labels } };
    const { instrument } = metric;
    if (instrument instanceof Counter) {
      return { ...base, kind: 'counter', value: instrument.value };
    }
    if (instrument instanceof Histogram) {
      const kind = instrument instanceof Timer ? 'timer' : 'histogram';
      return { ...base, kind, histogram: instrument.snapshot() };
    }
    const value = instrument();
    return value === undefined ? undefined : { ...base, kind: 'gauge', value };
  }

  private find<T extends Metric['instrument']>(
    name: string,
    kind: Metric['kind'],
    labels: Labels,
    create: () => T,
  ): T {
    const existing = this.metrics.get(name);
    if (existing !== undefined) {
      if (existing.kind !== kind) {
        throw new InvalidArgumentError(`metric ${name} is a ${existing.kind}, not a ${kind}`);
      }
      return existing.instrument as T;
    }
    const instrument = create();
    this.metrics.set(name, { kind, labels, instrument });
    return instrument;
  }
}
