import { Autocomplete, Button, CloseButton, Popover, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import {
  chipText,
  conditionOf,
  conjunctsIn,
  FIELD_LABELS,
  filterText,
  isModel,
  MODEL,
  needsValue,
  operandOf,
  operatorsOf,
  OPERATORS,
  type Condition,
  type Operand,
  type Operator,
} from './filter.js'
import { useKeys } from '../kit/keys.js'
import { useAddress, usePlace } from '../kit/place.js'
import { onSubmit } from '../kit/on-submit.js'
import { RangePicker } from '../kit/range-picker.js'
import { SearchBox } from '../kit/search-box.js'

/** The filter of a list of calls, all of it visible and in the address: text, time range and one chip a condition. */
export const FilterBar = () => {
  const [{ filter, q = '', range = '' }, setAddress] = useAddress()
  return (
    <div className="bar" role="search">
      <SearchBox label="Search inputs, outputs and exceptions" />
      <RangePicker />
      <Conditions />
      {(conjunctsIn(filter).length > 0 || q !== '' || range !== '') && (
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          c="var(--text-2)"
          onClick={() => setAddress({ filter: '', q: '', range: '' })}
        >
          Clear
        </Button>
      )}
    </div>
  )
}

/** A chip for each condition of the address, and the way to add one. */
export const Conditions = () => {
  const [{ filter }, setAddress] = useAddress()
  const [editing, setEditing] = useState<number | 'new' | null>(null)
  const conjuncts = conjunctsIn(filter)
  useKeys({ f: () => setEditing('new') })
  const set = (next: readonly Operand[]) => setAddress({ filter: filterText(next) })
  return (
    <>
      {conjuncts.map((operand, n) => (
        <span className="chip" key={JSON.stringify(operand)}>
          <Popover opened={editing === n} onClose={() => setEditing(null)} trapFocus>
            <Popover.Target>
              <Button
                variant="transparent"
                size="compact-xs"
                c="var(--text)"
                fw={400}
                maw={360}
                title={chipText(operand)}
                disabled={conditionOf(operand) === undefined}
                onClick={() => setEditing(n)}
              >
                {chipText(operand)}
              </Button>
            </Popover.Target>
            <Popover.Dropdown>
              <ConditionForm
                condition={conditionOf(operand)}
                onDone={(condition) => {
                  set(conjuncts.map((one, at) => (at === n ? operandOf(condition) : one)))
                  setEditing(null)
                }}
              />
            </Popover.Dropdown>
          </Popover>
          <CloseButton
            size="xs"
            aria-label={`Remove the filter ${chipText(operand)}`}
            onClick={() => set(conjuncts.filter((_, at) => at !== n))}
          />
        </span>
      ))}
      <Popover opened={editing === 'new'} onClose={() => setEditing(null)} trapFocus position="bottom-start">
        <Popover.Target>
          <Button size="xs" variant="default" onClick={() => setEditing('new')}>
            Add filter
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <ConditionForm
            onDone={(condition) => {
              set([...conjuncts, operandOf(condition)])
              setEditing(null)
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

const NEW: Condition = { field: '', operator: 'equals', value: '' }

interface ConditionFormProps {
  readonly condition?: Condition | undefined
  readonly onDone: (condition: Condition) => void
}

const ConditionForm = ({ condition = NEW, onDone }: ConditionFormProps) => {
  const { projectId } = usePlace()
  const [field, setField] = useState(FIELD_LABELS[condition.field] ?? condition.field)
  const [operator, setOperator] = useState<Operator>(condition.operator)
  const [value, setValue] = useState(condition.value)
  const [error, setError] = useState<string>()
  const name =
    Object.entries(FIELD_LABELS).find(([, label]) => label === field.trim().toLowerCase())?.[0] ??
    field.trim()
  const fields = useFields(projectId, field)
  // While a name is being typed, its beginnings are no fields.
  const isChosen = Object.hasOwn(FIELD_LABELS, name) || fields.includes(name)
  const values = useValues(projectId, isChosen ? name : '', value)
  const operators = operatorsOf(name)
  const chosen = operators.includes(operator) ? operator : 'equals'
  const submit = onSubmit(() => {
    if (name === '') setError('Choose a field.')
    else onDone({ field: name, operator: chosen, value: needsValue(chosen) ? value : '' })
  })
  return (
    <form className="form" onSubmit={submit} style={{ width: 280 }}>
      <Autocomplete
        label="Field"
        size="xs"
        value={field}
        error={error}
        data={fields}
        limit={12}
        data-autofocus
        onChange={(next) => {
          setField(next)
          setError(undefined)
        }}
        comboboxProps={{ withinPortal: false }}
      />
      <Select
        label="Condition"
        size="xs"
        value={chosen}
        allowDeselect={false}
        data={operators.map((key) => ({ value: key, label: OPERATORS[key] }))}
        onChange={(next) => setOperator(next as Operator)}
        comboboxProps={{ withinPortal: false }}
      />
      {needsValue(chosen) && (
        <Autocomplete
          label="Value"
          size="xs"
          value={value}
          data={values}
          limit={12}
          onChange={setValue}
          comboboxProps={{ withinPortal: false }}
        />
      )}
      <Button type="submit" size="xs">
        Apply
      </Button>
    </form>
  )
}

/** Names of fields to complete: those of every call, and those within the newest calls. */
export const useFields = (projectId: string, typed: string): readonly string[] => {
  const [contains] = useDebouncedValue(typed, 150)
  const { data } = useQuery({
    queryKey: ['fields', projectId, contains],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/pages/fields', { params: { query: { project_id: projectId, contains } }, signal }),
      ),
    placeholderData: (before) => before,
  })
  return [...new Set([...Object.values(FIELD_LABELS), ...(data?.data ?? []).map(({ path }) => path)])]
}

const useValues = (projectId: string, field: string, typed: string): readonly string[] => {
  const [contains] = useDebouncedValue(typed, 150)
  const named = isModel(field) ? MODEL : field
  const { data } = useQuery({
    queryKey: ['values', projectId, named, contains],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/pages/values', {
          params: { query: { project_id: projectId, field: named, contains } },
          signal,
        }),
      ),
    enabled: field !== '',
    retry: false,
  })
  return (data?.data ?? []).map(({ value }) => value)
}
