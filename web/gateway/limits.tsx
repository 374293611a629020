import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { ConfirmButton } from '../kit/confirm.js'
import { Cost } from '../kit/cost.js'
import { cost, wholeNumber } from '../kit/format.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { usedUpAt } from './forecast.js'
import { limitsKey, type Limit } from './limit-data.js'
import { LimitDialog } from './limit-dialog.js'
import { useTeamKeys } from './team-keys.js'
import { WriteOffDialog } from './write-off-dialog.js'

/** What a limit applies to, with the name of a key in place of its id. */
const scopeName = ({ type, project, key }: Limit['scope'], keys: ReadonlyMap<string, string>): string =>
  type === 'team'
    ? 'the team'
    : type === 'project'
      ? `project ${project ?? ''}`
      : `key ${keys.get(key ?? '') ?? key ?? ''}`

/** The limits of a team with what is used of them. */
export const Limits = ({ team }: { readonly team: string }) => {
  const queries = useQueryClient()
  const [edited, setEdited] = useState<Limit | 'new' | null>(null)
  const [writtenOff, setWrittenOff] = useState<Limit | null>(null)
  const keys = useTeamKeys(team)
  const names = new Map((keys.data?.data ?? []).map(({ id, name, prefix }) => [id, name ?? `${prefix}…`]))
  const limits = useQuery({
    queryKey: limitsKey(team),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/limits', { params: { path: { team } }, signal })),
    refetchInterval: 10_000,
  })
  const remove = useMutation({
    mutationFn: ({ scope }: Limit) =>
      dataOf(api.PUT('/api/teams/{team}/limits', { params: { path: { team } }, body: { scope } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: limitsKey(team) }),
  })
  if (limits.isError)
    return <Failed error={limits.error} what="The limits" onRetry={() => void limits.refetch()} />
  if (!limits.isSuccess) return <Loading what="limits" />
  const rows = limits.data.data
  return (
    <>
      <div className="bar">
        <Button onClick={() => setEdited('new')}>Set a limit</Button>
        <AppLink className="button" href={`/${team}/-/automations/new?event=BUDGET_REACHED`}>
          New automation for budgets
        </AppLink>
      </div>
      <ActionFailed error={remove.error} what="The removal" />
      {rows.length === 0 && (
        <Empty title="This team has no limits yet">
          A limit bounds the completions of the team, of a project or of an API key: by a budget for a day or
          a month, by requests or tokens a minute, or by completions at the same time.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label="Limits"
          isTall
          rows={rows}
          keyOf={({ scope }) => JSON.stringify(scope)}
          columns={[
            { label: 'Scope', width: 170, cell: ({ scope }) => scopeName(scope, names) },
            ...COLUMNS,
            {
              label: '',
              width: 230,
              cell: (limit) => (
                <>
                  {(limit.used.budget?.unknown ?? 0) > 0 && (
                    <Button size="compact-sm" variant="default" mr={8} onClick={() => setWrittenOff(limit)}>
                      Write off
                    </Button>
                  )}
                  <Button
                    size="compact-sm"
                    variant="default"
                    mr={8}
                    aria-label={`Edit the limit of ${scopeName(limit.scope, names)}`}
                    onClick={() => setEdited(limit)}
                  >
                    Edit
                  </Button>
                  <ConfirmButton
                    label="Remove"
                    title={`Remove the limit of ${scopeName(limit.scope, names)}?`}
                    onConfirm={() => remove.mutate(limit)}
                  >
                    <p>Completions are then only bounded by the other limits.</p>
                  </ConfirmButton>
                </>
              ),
            },
          ]}
        />
      )}
      {edited !== null && (
        <LimitDialog team={team} limit={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
      {writtenOff !== null && (
        <WriteOffDialog
          team={team}
          limit={writtenOff}
          name={scopeName(writtenOff.scope, names)}
          onClose={() => setWrittenOff(null)}
        />
      )}
    </>
  )
}

const ofRate = (used: number, limit: number | null | undefined): string =>
  limit == null ? '—' : `${wholeNumber(used)} of ${wholeNumber(limit)}`

const COLUMNS: readonly Column<Limit>[] = [
  { label: 'Budget', width: 290, cell: (limit) => <BudgetBar limit={limit} /> },
  { label: 'Ends, used up', cell: (limit) => <Forecast limit={limit} /> },
  {
    label: 'Requests/min',
    width: 110,
    isNumber: true,
    cell: ({ used, requests_per_minute }) => ofRate(used.requests, requests_per_minute),
  },
  {
    label: 'Tokens/min',
    width: 130,
    isNumber: true,
    cell: ({ used, tokens_per_minute }) => ofRate(used.tokens, tokens_per_minute),
  },
  {
    label: 'Running',
    width: 80,
    isNumber: true,
    cell: ({ used, concurrency }) => ofRate(used.running, concurrency),
  },
]

const PARTS = ['spent', 'reserved', 'unknown'] as const

/** The parts of a budget as a bar and in words. */
const BudgetBar = ({ limit: { budget, used } }: { readonly limit: Limit }) => {
  if (budget == null || used.budget == null) return '—'
  const { amount, period } = budget
  const parts = PARTS.map((part) => [part, used.budget![part]] as const)
  const sum = parts.reduce((total, [, value]) => total + value, 0)
  const most = Math.max(amount, sum)
  const left = Math.max(0, amount - sum)
  const shown = [...parts.filter(([part, value]) => part === 'spent' || value > 0), ['left', left] as const]
  return (
    <div
      className="budget"
      title={shown.map(([part, value]) => `${part} ${value}`).join(', ')}
      data-tone={left === 0 ? 'danger' : undefined}
    >
      <div className="budget-bar" aria-hidden="true">
        {parts.map(([part, value]) => (
          <i key={part} data-part={part} style={{ width: `${most === 0 ? 0 : (100 * value) / most}%` }} />
        ))}
      </div>
      <div>
        {shown.map(([part, value]) => `${part} ${cost(value)}`).join(' · ')} of <Cost dollars={amount} /> a{' '}
        {period}
      </div>
    </div>
  )
}

const Forecast = ({ limit: { budget, used } }: { readonly limit: Limit }) => {
  if (budget == null || used.budget == null) return '—'
  const { spent, reserved, unknown, ends_at } = used.budget
  const at = usedUpAt(used.budget, spent + reserved + unknown, budget.amount, Date.now())
  return (
    <>
      <Time at={ends_at} />
      {at !== undefined && (
        <div style={{ color: 'var(--danger)', whiteSpace: 'normal' }}>
          {spent + reserved + unknown >= budget.amount ? (
            'used up'
          ) : (
            <>
              at this rate used up <Time at={new Date(at).toISOString()} />
            </>
          )}
        </div>
      )}
    </>
  )
}
