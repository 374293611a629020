import type { BlobUse, EventsUsage } from './log-usage.js'

export interface DiskRow {
  /** Undefined for what all projects share. */
  readonly project: string | undefined
  readonly kind: string
  /** Events, files, objects or tables. */
  readonly items: number
  readonly bytes: number
  /** What the policy gives back. */
  readonly givenBack: number
}

/** The events share the bytes of the log by their sizes. */
export const rowsOfEvents = (usages: readonly EventsUsage[], logBytes: number): readonly DiskRow[] => {
  const sum = usages.reduce((total, { size }) => total + size, 0)
  const scale = sum === 0 ? 0 : logBytes / sum
  return usages.map(({ project, type, events, size, erasable }) => ({
    project,
    kind: `events: ${type}`,
    items: events,
    bytes: Math.round(size * scale),
    givenBack: Math.round(erasable * scale),
  }))
}

const UNNAMED: BlobUse = { project: undefined, kind: 'payloads that no event names', isErasable: false }

/** `sizes`: bytes of each blob, by its digest. */
export const rowsOfBlobs = (
  sizes: Iterable<readonly [digest: string, bytes: number]>,
  uses: ReadonlyMap<string, BlobUse>,
): readonly DiskRow[] =>
  summed(
    Array.from(sizes, ([digest, bytes]) => {
      const { project, kind, isErasable } = uses.get(digest) ?? UNNAMED
      return { project, kind, items: 1, bytes, givenBack: isErasable ? bytes : 0 }
    }),
  )

/** One row for each project and kind, the largest first. */
export const summed = (rows: Iterable<DiskRow>): readonly DiskRow[] => {
  const sums = new Map<string, DiskRow>()
  for (const row of rows) {
    const key = `${row.project ?? ''} ${row.kind}`
    const sum = sums.get(key)
    sums.set(
      key,
      sum === undefined
        ? row
        : {
            ...row,
            items: sum.items + row.items,
            bytes: sum.bytes + row.bytes,
            givenBack: sum.givenBack + row.givenBack,
          },
    )
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes)
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Such as `1.3 GB`. */
export const bytesText = (bytes: number): string => {
  let [value, unit] = [bytes, 0]
  for (; value >= 999.5 && unit < UNITS.length - 1; unit += 1) value /= 1000
  return `${unit === 0 || value >= 99.95 ? String(Math.round(value)) : value.toFixed(1)} ${UNITS[unit]!}`
}

const MOST_LINES = 40

/** The largest rows, with one for the others together. */
const largest = (rows: readonly DiskRow[]): readonly DiskRow[] => {
  const smaller = rows.slice(MOST_LINES).map((row) => ({ ...row, project: undefined, kind: SMALLER }))
  return [...rows.slice(0, MOST_LINES), ...summed(smaller)]
}

const SMALLER = 'smaller ones; --json lists them'

/** Columns are as wide as their widest cell; figures are aligned to the right. */
export const tableText = (rows: readonly DiskRow[], days: number | undefined): string => {
  const total = {
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    givenBack: rows.reduce((sum, { givenBack }) => sum + givenBack, 0),
  }
  const policy = (bytes: number) => (days === undefined ? [] : [bytes === 0 ? '' : bytesText(bytes)])
  const lines = [
    ['project', 'kind', 'items', 'size', ...(days === undefined ? [] : [`after ${days} days`])],
    ...largest(rows).map(({ project, kind, items, bytes, givenBack }) => [
      project ?? '(all)',
      kind,
      items.toLocaleString('en-US'),
      bytesText(bytes),
      ...policy(givenBack),
    ]),
    ['total', '', '', bytesText(total.bytes), ...policy(total.givenBack)],
  ]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const cell = (text: string, column: number) =>
    column < 2 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!)
  return lines.map((line) => `${line.map(cell).join('  ').trimEnd()}\n`).join('')
}
