import { decimalText } from '../../../domain/prices/decimal.js'
import type { Offset } from '../../../domain/usage/zone.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { unpricedMembers } from '../../../application/calls/unpriced-models.js'
import { isCost, MEASURES, measureName, type Measure } from '../../../projections/usage/columns.js'
import type { Dimension } from '../../../projections/usage/query/groups-sql.js'
import {
  clamped,
  isUnknownCost,
  type UsageFigures,
  type UsageGroup,
} from '../../../projections/usage/query/queries.js'
import { sumOfFigures } from '../../../projections/usage/query/sums.js'
import { parquetOf } from '../../../projections/parquet.js'
import { csvText, type CsvCell } from './csv.js'

export interface AnswerOptions {
  readonly groupBy: readonly Dimension[]
  readonly hasCosts: boolean
  readonly isCompared: boolean
  /** Of the time zone of the buckets. */
  readonly offset: Offset
}

/** The response as one JSON object. */
export const usageQueryJson = (
  groups: readonly UsageGroup[],
  shown: AnswerOptions,
  erased: number,
): string => {
  const rows = groups.flatMap((group) =>
    group.key === undefined ? [] : [`{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}`],
  )
  const others = groups.find(({ key }) => key === undefined)
  const totals = totalsOf(groups)
  return `{"rows":[${rows.join(',')}],"others":${others === undefined ? 'null' : summaryJson(others, shown)},"totals":${summaryJson(totals, shown)},"erased_calls":${erased}}`
}

/** A row a line; the last has no group where groups lie beyond the limit. */
export const usageQueryLines = (groups: readonly UsageGroup[], shown: AnswerOptions): string =>
  groups
    .map((group) =>
      group.key === undefined
        ? `{"group":null,"groups":${group.groups},${periodsJson(group, shown)}}\n`
        : `{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}\n`,
    )
    .join('')

/** A time in seconds since 1970. */
type Cell = CsvCell | { readonly time: number }

const TEXT = 'Nullable(String)'
const TIME = "Nullable(DateTime64(3, 'UTC'))"
const COUNT = 'Int64'
const COST = 'Nullable(Decimal(38, 12))'

/** A row a group, with empty dimensions for the sum of the groups beyond the limit. */
const tableOf = (groups: readonly UsageGroup[], { groupBy, hasCosts, isCompared }: AnswerOptions) => {
  const prefixes = isCompared ? ['', 'previous_'] : ['']
  const measures = MEASURES.filter((measure) => hasCosts || !isCost(measure))
  const figures = [
    ...measures.map((measure) => ({ name: measureName(measure), type: isCost(measure) ? COST : COUNT })),
    ...(hasCosts
      ? [
          { name: 'unpriced_model_count', type: COUNT },
          { name: 'unpriced_models', type: 'String' },
        ]
      : []),
  ]
  const columns = [
    ...groupBy.map((dimension) => ({ name: dimension.name, type: 'starts' in dimension ? TIME : TEXT })),
    { name: 'groups', type: COUNT },
    ...prefixes.flatMap((prefix) => figures.map(({ name, type }) => ({ name: `${prefix}${name}`, type }))),
  ]
  const cellsOf = (of: UsageFigures): readonly Cell[] => {
    const { unpriced, unpricedCount } = of.pricing
    const { unpriced_models } = unpricedMembers(unpriced, unpricedCount)
    return [
      ...measures.map((measure) => plain(measureText(measure, of, hasCosts))),
      ...(hasCosts ? [plain(String(unpricedCount)), { text: JSON.stringify(unpriced_models) }] : []),
    ]
  }
  const rows = groups.map(({ key, groups: count, figures: current, previous }) => [
    ...groupBy.map((_, index) => keyCell(key?.[index])),
    plain(String(count)),
    ...cellsOf(current),
    ...(previous === undefined ? [] : cellsOf(previous)),
  ])
  return { columns, rows }
}

const plain = (text: string): CsvCell => (text === 'null' ? null : { plain: text })

const keyCell = (value: string | number | undefined): Cell => {
  if (value === undefined) return null
  return typeof value === 'number' ? { time: value } : { text: value }
}

/** Times have the offset of the zone. */
export const usageCsv = (groups: readonly UsageGroup[], shown: AnswerOptions): string => {
  const { columns, rows } = tableOf(groups, shown)
  const cellOf = (cell: Cell): CsvCell =>
    cell !== null && 'time' in cell ? { plain: timeWithOffset(cell.time, shown.offset(cell.time)) } : cell
  return csvText(
    columns.map(({ name }) => name),
    rows.map((row) => row.map(cellOf)),
  )
}

export const usageParquet = (
  reader: Parameters<typeof parquetOf>[0],
  groups: readonly UsageGroup[],
  shown: AnswerOptions,
): AsyncIterable<Uint8Array> => {
  const { columns, rows } = tableOf(groups, shown)
  const valueOf = (cell: Cell, index: number): string | null => {
    if (cell === null) return null
    if ('time' in cell) return new Date(cell.time * 1000).toISOString().replace('T', ' ').slice(0, -1)
    if ('text' in cell) return cell.text
    return columns[index]!.type === COST ? readableDecimal(cell.plain) : cell.plain
  }
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]))
  return parquetOf(reader, types, [JSON.stringify(rows.map((row) => row.map(valueOf)))])
}

/** Readers take decimals of at most 38 digits; a larger cost is shown as the largest of these. */
const readableDecimal = (text: string): string => {
  const [, sign = '', whole = ''] = /^(-?)(\d*)/.exec(text)!
  return whole.length > 26 ? `${sign}${'9'.repeat(26)}.${'9'.repeat(12)}` : text
}

/** ISO 8601 has no seconds in an offset, as local times before 1900 have. */
const timeWithOffset = (at: number, offset: number): string => {
  if (offset % 60 !== 0) return timeWithOffset(at, 0)
  const local = new Date((at + offset) * 1000).toISOString().slice(0, 19)
  const minutes = Math.abs(offset) / 60
  const twoDigits = (count: number) => String(count).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}

type Periods = Pick<UsageGroup, 'figures' | 'previous'>

const periodsJson = ({ figures, previous }: Periods, shown: AnswerOptions): string =>
  `"usage":${figuresJson(figures, shown)}${previous === undefined ? '' : `,"previous":${figuresJson(previous, shown)}`}`

const summaryJson = (group: Periods & Pick<UsageGroup, 'groups'>, shown: AnswerOptions): string =>
  `{"groups":${group.groups},${periodsJson(group, shown)}}`

const keyJson = (key: readonly (string | number)[], { groupBy }: AnswerOptions): string =>
  JSON.stringify(
    Object.fromEntries(
      groupBy.map(({ name }, index) => {
        const value = key[index]!
        return [name, typeof value === 'number' ? instantOf(new Date(value * 1000)) : value]
      }),
    ),
  )

const figuresJson = (figures: UsageFigures, { hasCosts }: AnswerOptions): string => {
  const members = MEASURES.map(
    (measure) => `"${measureName(measure)}":${measureText(measure, figures, hasCosts)}`,
  )
  const { unpriced, unpricedCount } = figures.pricing
  const unpricedText = JSON.stringify(unpricedMembers(unpriced, unpricedCount)).slice(1, -1)
  return `{${members.join(',')}${hasCosts ? `,${unpricedText}` : ''}}`
}

const measureText = (measure: Measure, figures: UsageFigures, hasCosts: boolean): string => {
  if (!isCost(measure)) return String(clamped(figures[measure]))
  return hasCosts && !isUnknownCost(measure, figures) ? decimalText(figures[measure]) : 'null'
}

export const totalsOf = (groups: readonly UsageGroup[]): Periods & Pick<UsageGroup, 'groups'> => ({
  groups: groups.reduce((sum, group) => sum + group.groups, 0),
  figures: sumOfFigures(groups.map(({ figures }) => figures)),
  previous: groups.some(({ previous }) => previous !== undefined)
    ? sumOfFigures(groups.flatMap(({ previous }) => previous ?? []))
    : undefined,
})
