import { Button, Checkbox, Switch, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { ConditionField, conditionProblem } from '../kit/condition-field.js'
import { ConfirmButton } from '../kit/confirm.js'
import { onSubmit } from '../kit/on-submit.js'
import { usePlace } from '../kit/place.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { useTitle } from '../kit/title.js'
import { FormDialog, isChangedFrom } from '../kit/unsaved.js'
import { nameIn, percentText } from './figures.js'
import { ScorerPicker } from './rescore.js'

type Rule = Schemas['EvaluationRule']

const PATH = '/api/evaluation-rules/{entity}/{project}'

/** The rules that score calls as they end. */
export const RulesPage = () => {
  useTitle('Evaluation rules')
  const { team, project, projectId } = usePlace()
  const queries = useQueryClient()
  const path = { entity: team, project }
  const key = ['evaluation rules', projectId]
  const list = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => dataOf(api.GET(PATH, { params: { path }, signal })),
  })
  const onSettled = () => queries.invalidateQueries({ queryKey: key })
  const change = useMutation({
    mutationFn: ({ id, enabled }: Pick<Rule, 'id' | 'enabled'>) =>
      dataOf(api.PATCH(`${PATH}/{id}`, { params: { path: { ...path, id } }, body: { enabled } })),
    onSettled,
  })
  const remove = useMutation({
    mutationFn: (id: string) => dataOf(api.DELETE(`${PATH}/{id}`, { params: { path: { ...path, id } } })),
    onSettled,
  })
  /** The rule that is edited; null for a new one. */
  const [edited, setEdited] = useState<Rule | null>()
  const rows = list.data?.data ?? []
  const columns: readonly Column<Rule>[] = [
    { label: 'Name', cell: ({ name }) => <span title={name}>{name}</span> },
    { label: 'Calls', cell: (rule) => <span title={callsOf(rule)}>{callsOf(rule)}</span> },
    {
      label: 'Scorers',
      cell: ({ scorer_refs }) => {
        const names = scorer_refs.map((ref) => nameIn(ref) ?? ref).join(', ')
        return <span title={scorer_refs.join('\n')}>{names}</span>
      },
    },
    { label: 'Scored', width: 90, isNumber: true, cell: ({ sample_rate }) => percentText(sample_rate) },
    { label: 'User', width: 120, cell: ({ wb_user_id }) => wb_user_id },
    {
      label: 'State',
      width: 110,
      cell: ({ id, name, enabled }) => (
        <Switch
          size="xs"
          label={enabled ? 'on' : 'off'}
          aria-label={`${name}: ${enabled ? 'on' : 'off'}`}
          checked={enabled}
          onChange={(event) => change.mutate({ id, enabled: event.currentTarget.checked })}
        />
      ),
    },
    {
      label: '',
      width: 150,
      cell: (rule) => (
        <span className="bar" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
          <Button size="compact-sm" variant="default" onClick={() => setEdited(rule)}>
            Edit<span className="visually-hidden"> {rule.name}</span>
          </Button>
          <ConfirmButton
            label="Delete"
            title={`Delete the rule ${rule.name}?`}
            onConfirm={() => remove.mutate(rule.id)}
          >
            The scores that it gave stay.
          </ConfirmButton>
        </span>
      ),
    },
  ]
  return (
    <div className="page">
      <div className="bar">
        <h1>Evaluation rules</h1>
        <span className="spacer" />
        <Link to="/$team/$project/evaluations" params={{ team, project }}>
          Evaluations
        </Link>
        <Button size="compact-sm" onClick={() => setEdited(null)}>
          New rule
        </Button>
      </div>
      {list.isError && <Failed error={list.error} what="The rules" onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading what="rules" />}
      <ActionFailed error={change.error ?? remove.error} what="Changing the rule" />
      {list.isSuccess && rows.length === 0 && (
        <Empty title={`No rules in ${projectId} yet`}>
          A rule applies scorers to calls as they end. Its scores are feedback on the calls, which lists and
          automations can filter by. Make one with New rule.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table label="Evaluation rules" columns={columns} rows={rows} keyOf={({ id }) => id} />
      )}
      {edited !== undefined && (
        <RuleForm
          rule={edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined)
            void onSettled()
          }}
        />
      )}
    </div>
  )
}

/** Which calls a rule applies to. */
const callsOf = ({ filter: { op_names, trace_roots_only, query } }: Rule): string =>
  [
    op_names === null || op_names.length === 0
      ? 'all ops'
      : op_names.map((op) => nameIn(op) ?? op).join(', '),
    ...(trace_roots_only ? ['roots of traces'] : []),
    ...(query === null ? [] : ['that meet a condition']),
  ].join(' · ')

interface FormProps {
  readonly rule: Rule | null
  readonly onClose: () => void
  readonly onSaved: () => void
}

const RuleForm = ({ rule, onClose, onSaved }: FormProps) => {
  const { team, project } = usePlace()
  const [name, setName] = useState(rule?.name ?? '')
  const [refs, setRefs] = useState<readonly string[]>(rule?.scorer_refs ?? [])
  const [ops, setOps] = useState((rule?.filter.op_names ?? []).join(', '))
  const [isOfRoots, setOfRoots] = useState(rule?.filter.trace_roots_only ?? false)
  const [percent, setPercent] = useState(String(Number(((rule?.sample_rate ?? 1) * 100).toPrecision(12))))
  const [condition, setCondition] = useState(
    rule?.filter.query == null ? '' : JSON.stringify(rule.filter.query, null, 2),
  )
  const draft = [name, refs, ops, isOfRoots, percent, condition]
  const [initial] = useState(draft)
  const save = useMutation({
    mutationFn: async () => {
      const wrong = conditionProblem(condition)
      if (wrong !== undefined) throw new Error(wrong)
      const op_names = ops
        .split(',')
        .map((op) => op.trim())
        .filter((op) => op !== '')
      const body = {
        name,
        scorer_refs: [...refs],
        sample_rate: Number(percent) / 100,
        filter: {
          op_names: op_names.length === 0 ? null : op_names,
          trace_roots_only: isOfRoots,
          // The grammar of conditions is recursive, which the client's types cannot compare.
          query: (condition.trim() === '' ? null : JSON.parse(condition)) as null,
        },
      }
      const path = { entity: team, project }
      return rule === null
        ? dataOf(api.POST(PATH, { params: { path }, body }))
        : dataOf(api.PATCH(`${PATH}/{id}`, { params: { path: { ...path, id: rule.id } }, body }))
    },
    onSuccess: onSaved,
  })
  return (
    <FormDialog
      title={rule === null ? 'New rule' : `Edit ${rule.name}`}
      isChanged={isChangedFrom(initial, draft)}
      onClose={onClose}
    >
      <form className="form" onSubmit={onSubmit(() => save.mutate())}>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label="Ops"
          description="Names, separated by commas; all ops if empty"
          value={ops}
          onChange={(event) => setOps(event.currentTarget.value)}
        />
        <Checkbox
          size="xs"
          label="Only roots of traces"
          checked={isOfRoots}
          onChange={(event) => setOfRoots(event.currentTarget.checked)}
        />
        <ConditionField
          description="On the fields of a call, as in queries of calls"
          placeholder='{"$expr": {"$eq": [{"$getField": "attributes.environment"}, {"$literal": "production"}]}}'
          value={condition}
          onChange={setCondition}
        />
        <TextInput
          label="Calls to score, in per cent"
          inputMode="decimal"
          required
          value={percent}
          onChange={(event) => setPercent(event.currentTarget.value)}
        />
        <ScorerPicker refs={refs} onChange={setRefs} />
        <ActionFailed error={save.error} what="Saving" />
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
      </form>
    </FormDialog>
  )
}
