import { Checkbox, Select, TextInput } from '@mantine/core'
import { CHOICE_LABELS, FIELD_LABELS } from './automation-draft.js'
import type { EventInfo } from './event-types.js'

type Field = EventInfo['fields'][number]

/** The fields of an event, made from the description of the event that the service gives. */
export const EventFields = ({
  info,
  values,
  problemOf,
  onChange,
}: {
  readonly info: EventInfo
  readonly values: Readonly<Record<string, string>>
  readonly problemOf: (name: string) => string | undefined
  readonly onChange: (name: string, value: string) => void
}) =>
  info.fields.map((field) => (
    <FieldInput
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      error={problemOf(field.name)}
      onChange={(value) => onChange(field.name, value)}
    />
  ))

const FieldInput = ({
  field: { name, kind, required, default: fallback, choices },
  value,
  error,
  onChange,
}: {
  readonly field: Field
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}) => {
  const label = FIELD_LABELS[name] ?? name
  const usual =
    typeof fallback === 'string' || typeof fallback === 'number' ? labelOf(String(fallback)) : undefined
  if (kind === 'choices') {
    const chosen = value === '' ? [] : value.split(',')
    return (
      <Checkbox.Group
        label={label}
        required={required}
        error={error}
        description={required ? undefined : 'Without a choice all of them'}
        value={chosen}
        onChange={(next) => onChange(next.join(','))}
      >
        <div className="bar" style={{ gap: 16 }}>
          {(choices ?? []).map((choice) => (
            <Checkbox key={choice} value={choice} label={labelOf(choice)} />
          ))}
        </div>
      </Checkbox.Group>
    )
  }
  if (kind === 'choice')
    return (
      <Select
        label={label}
        required={required}
        error={error}
        clearable={!required}
        placeholder={usual ?? (required ? 'Choose' : 'The last value')}
        value={value === '' ? null : value}
        data={(choices ?? []).map((choice) => ({ value: choice, label: labelOf(choice) }))}
        onChange={(next) => onChange(next ?? '')}
      />
    )
  return (
    <TextInput
      label={label}
      required={required}
      error={error}
      placeholder={usual ?? (kind === 'pattern' ? '^prod' : '')}
      inputMode={kind === 'number' ? 'decimal' : kind === 'integer' ? 'numeric' : 'text'}
      classNames={kind === 'pattern' ? { input: 'mono' } : {}}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

const labelOf = (choice: string): string =>
  CHOICE_LABELS[choice] ?? choice[0]!.toUpperCase() + choice.slice(1)
