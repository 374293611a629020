import { Button, SegmentedControl, Select, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { NotSaved, problemAt } from '../kit/form-errors.js'
import { onSubmit } from '../kit/on-submit.js'
import { useProjects } from '../kit/project-switcher.js'
import { FormDialog, isChangedFrom } from '../kit/unsaved.js'
import { limitsKey, type Limit } from './limit-data.js'
import { useTeamKeys } from './team-keys.js'

type Scope = Schemas['NewLimitScope']

const RATES = [
  ['requests_per_minute', 'Requests a minute'],
  ['tokens_per_minute', 'Tokens a minute'],
  ['concurrency', 'Completions at the same time'],
] as const

/** What is typed; text that is no number is sent as it is, so that the service says so at the field. */
const numberIn = (text: string): number | null =>
  text.trim() === '' ? null : Number.isNaN(Number(text)) ? (text as unknown as number) : Number(text)

/** Sets the limits of a scope. */
export const LimitDialog = ({
  team,
  limit,
  onClose,
}: {
  readonly team: string
  readonly limit: Limit | null
  readonly onClose: () => void
}) => {
  const queries = useQueryClient()
  const { projects } = useProjects()
  const keys = useTeamKeys(team)
  const [scope, setScope] = useState<Scope>(limit?.scope ?? { type: 'team' })
  const [amount, setAmount] = useState(String(limit?.budget?.amount ?? ''))
  const [period, setPeriod] = useState<'day' | 'month'>(limit?.budget?.period ?? 'month')
  const [rates, setRates] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(RATES.map(([name]) => [name, String(limit?.[name] ?? '')])),
  )
  const draft = [scope, amount, period, rates]
  const [initial] = useState(draft)
  const save = useMutation({
    mutationFn: () => {
      const given = Object.fromEntries(RATES.map(([name]) => [name, numberIn(rates[name]!)]))
      const budget = amount.trim() === '' ? null : { amount: numberIn(amount)!, period }
      return dataOf(
        api.PUT('/api/teams/{team}/limits', {
          params: { path: { team } },
          body: { scope, ...given, budget },
        }),
      )
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: limitsKey(team) })
      onClose()
    },
  })
  return (
    <FormDialog
      title={limit === null ? 'Set a limit' : 'Edit the limit'}
      isChanged={isChangedFrom(initial, draft)}
      onClose={onClose}
    >
      <form
        className="form"
        noValidate
        onSubmit={onSubmit(() => {
          save.mutate()
        })}
      >
        {limit === null && (
          <>
            <SegmentedControl
              aria-label="Scope"
              value={scope.type}
              data={[
                { value: 'team', label: 'Team' },
                { value: 'project', label: 'Project' },
                { value: 'key', label: 'API key' },
              ]}
              onChange={(type) => setScope({ type })}
            />
            {scope.type === 'project' && (
              <Select
                label="Project"
                required
                searchable
                error={problemAt(save.error, 'scope')}
                value={scope.project ?? null}
                data={projects.filter((one) => one.team === team).map(({ name }) => name)}
                onChange={(project) => setScope({ type: 'project', project })}
              />
            )}
            {scope.type === 'key' && (
              <Select
                label="API key"
                required
                searchable
                error={problemAt(save.error, 'scope')}
                value={scope.key ?? null}
                data={(keys.data?.data ?? []).map(({ id, name, prefix, user }) => ({
                  value: id,
                  label: `${name ?? `${prefix}…`} of ${user}`,
                }))}
                onChange={(key) => setScope({ type: 'key', key })}
              />
            )}
          </>
        )}
        <TextInput
          label="Budget in dollars"
          inputMode="decimal"
          placeholder="No budget"
          value={amount}
          error={problemAt(save.error, 'budget')}
          onChange={(event) => setAmount(event.currentTarget.value)}
        />
        <SegmentedControl
          aria-label="Period of the budget"
          value={period}
          data={[
            { value: 'day', label: 'A day' },
            { value: 'month', label: 'A month' },
          ]}
          onChange={(value) => setPeriod(value)}
        />
        {RATES.map(([name, label]) => (
          <TextInput
            key={name}
            label={label}
            inputMode="numeric"
            placeholder="No limit"
            value={rates[name]}
            error={problemAt(save.error, name)}
            onChange={(event) => setRates({ ...rates, [name]: event.currentTarget.value })}
          />
        ))}
        <NotSaved error={save.error} what="The limit" />
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
      </form>
    </FormDialog>
  )
}
