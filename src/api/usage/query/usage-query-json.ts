import { instantOf } from '../../../kernel/codec/instant.js'
import { decimalText } from '../../../domain/prices/decimal.js'
import { clamped, type UsageFigures, type UsageGroup } from '../../../projections/usage/query/queries.js'
import { isCost, MEASURES, measureName } from '../../../projections/usage/columns.js'
import type { Dimension } from '../../../projections/usage/query/groups-sql.js'

export interface ResponseOptions {
  readonly groupBy: readonly Dimension[]
  readonly hasCosts: boolean
}

/** The response as one JSON object. */
export const usageQueryJson = (groups: readonly UsageGroup[], shown: ResponseOptions): string => {
  const rows = groups.flatMap((group) =>
    group.key === undefined ? [] : [`{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}`],
  )
  const others = groups.find(({ key }) => key === undefined)
  return `{"rows":[${rows.join(',')}],"others":${others === undefined ? 'null' : summaryJson(others, shown)},"totals":${summaryJson(totalsOf(groups), shown)}}`
}

/** A row a line; the last has no group where groups lie beyond the limit. */
export const usageQueryLines = (groups: readonly UsageGroup[], shown: ResponseOptions): string =>
  groups
    .map((group) =>
      group.key === undefined
        ? `{"group":null,"groups":${group.groups},${periodsJson(group, shown)}}\n`
        : `{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}\n`,
    )
    .join('')

type Periods = Pick<UsageGroup, 'figures' | 'previous'>

const periodsJson = ({ figures, previous }: Periods, shown: ResponseOptions): string =>
  `"usage":${figuresJson(figures, shown)}${previous === undefined ? '' : `,"previous":${figuresJson(previous, shown)}`}`

const summaryJson = (group: Periods & Pick<UsageGroup, 'groups'>, shown: ResponseOptions): string =>
  `{"groups":${group.groups},${periodsJson(group, shown)}}`

const keyJson = (key: readonly (string | number)[], { groupBy }: ResponseOptions): string =>
  JSON.stringify(
    Object.fromEntries(
      groupBy.map(({ name }, index) => {
        const value = key[index]!
        return [name, typeof value === 'number' ? instantOf(new Date(value * 1000)) : value]
      }),
    ),
  )

const figuresJson = (figures: UsageFigures, { hasCosts }: ResponseOptions): string =>
  `{${MEASURES.map((measure) => `"${measureName(measure)}":${isCost(measure) ? (hasCosts ? decimalText(figures[measure]) : 'null') : clamped(figures[measure])}`).join(',')}}`

const totalsOf = (groups: readonly UsageGroup[]): Periods & Pick<UsageGroup, 'groups'> => ({
  groups: groups.reduce((sum, group) => sum + group.groups, 0),
  figures: sumOf(groups.map(({ figures }) => figures)),
  previous: groups.some(({ previous }) => previous !== undefined)
    ? sumOf(groups.flatMap(({ previous }) => previous ?? []))
    : undefined,
})

const sumOf = (all: readonly UsageFigures[]): UsageFigures =>
  Object.fromEntries(
    MEASURES.map((measure) => [measure, all.reduce((sum, figures) => sum + figures[measure], 0n)]),
  ) as unknown as UsageFigures
