import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Gauges are absent until they are set. */
export const metricFactory = (registry: Registry) => {
  const registers = [registry]
  return {
    counter: <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) => {
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers })
      return { add: (labels: Readonly<Record<L, string>>, by = 1) => counter.inc(labels, by) }
    },
    gauge: <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) => {
      const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers })
      if (labelNames.length === 0) gauge.remove()
      return { set: (labels: Readonly<Record<L, string>>, value: number) => gauge.set(labels, value) }
    },
    histogram: <const L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly L[] = [],
    ) => {
      const histogram = new Histogram({ name, help, buckets, labelNames: [...labelNames], registers })
      return {
        observe: (labels: Readonly<Record<L, string>>, value: number) => histogram.observe(labels, value),
      }
    },
  }
}

export type MetricFactory = ReturnType<typeof metricFactory>
