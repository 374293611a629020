import { useMemo, type ReactNode } from 'react'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { clockTime, cost, wholeNumber } from '../kit/format.js'
import { useZone } from '../kit/settings.js'
import { Table, type Column } from '../kit/table.js'
import { changeText } from '../overview/change.js'
import { groupHref, type Scope, type UsageQuestion } from './usage-address.js'
import { groupName } from './usage-chart.js'
import { figureOf, type Figures, type UsageRow } from './usage-data.js'

interface TableRow {
  readonly name: string
  readonly href: string | undefined
  readonly usage: Figures
  readonly previous: Figures | null
}

const number = (label: string, cell: (row: TableRow) => ReactNode, width = 104): Column<TableRow> => ({
  label,
  width,
  isNumber: true,
  cell,
})

const CostOf = ({ figures }: { readonly figures: Figures }) =>
  figures.total_cost === null ? (
    <span className="secondary">no price</span>
  ) : (
    <Cost dollars={figures.total_cost} unpriced={(figures.unpriced_model_count ?? 0) > 0} />
  )

/** The figures of each group; its name leads to the calls. */
export const UsageTable = ({
  scope,
  rows,
  others,
  question,
}: {
  readonly scope: Scope
  readonly rows: readonly UsageRow[]
  readonly others: {
    readonly groups: number
    readonly usage: Figures
    readonly previous?: Figures | null
  } | null
  readonly question: UsageQuestion
}) => {
  const zone = useZone()
  const { by, unit, metric, isCompared } = question
  const range = `${question.start}..${question.end}`
  const isByTime = by.length === 0 && unit !== null
  const shown = useMemo<readonly TableRow[]>(
    () => [
      ...rows.map(({ group, usage, previous }) => ({
        name: isByTime ? clockTime(Date.parse(group[unit]!), zone) : groupName(by, group),
        href:
          isByTime || (scope.project === '' && group['project'] === undefined)
            ? undefined
            : groupHref(scope, question, group, range),
        usage,
        previous: previous ?? null,
      })),
      ...(others === null
        ? []
        : [
            {
              name: `${others.groups} more`,
              href: undefined,
              usage: others.usage,
              previous: others.previous ?? null,
            },
          ]),
    ],
    [rows, others, by, unit, isByTime, zone, scope, question, range],
  )
  return (
    <Table
      label="Usage"
      rows={shown}
      keyOf={({ name, href }) => `${name} ${href ?? ''}`}
      columns={[
        {
          label: isByTime ? unit : by.join(', ') || 'all',
          cell: ({ name, href }) =>
            href === undefined ? (
              name
            ) : (
              <AppLink className="strong" href={href} title={name}>
                {name}
              </AppLink>
            ),
        },
        number('Calls', ({ usage }) => wholeNumber(usage.calls), 88),
        number('Input', ({ usage }) => wholeNumber(usage.prompt_tokens)),
        number('Output', ({ usage }) => wholeNumber(usage.completion_tokens)),
        number('Cost', ({ usage }) => <CostOf figures={usage} />),
        ...(isCompared
          ? [
              number('Before', ({ previous }) => {
                const before = previous === null ? null : figureOf(previous, metric)
                if (before === null) return '—'
                return metric === 'total_cost' ? cost(before) : wholeNumber(before)
              }),
              number('Change', ({ usage, previous }) =>
                changeText(figureOf(usage, metric), previous === null ? null : figureOf(previous, metric)),
              ),
            ]
          : []),
      ]}
    />
  )
}
