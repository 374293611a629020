import { ActionIcon, Button, Checkbox, Popover, TextInput } from '@mantine/core'
import { useState } from 'react'
import { FIELD_LABELS } from './filter.js'
import { columnOf, LIST_COLUMNS, OP, withMoved } from './list-columns.js'
import { useFields } from './filter-bar.js'
import { useKeys } from '../kit/keys.js'

const OFFERED = 15

interface ColumnPickerProps {
  readonly projectId: string
  readonly shown: readonly string[]
  readonly onChange: (names: readonly string[]) => void
  readonly onReset: () => void
}

/** Chooses columns of the list and from all fields of the calls, and their order. */
export const ColumnPicker = (props: ColumnPickerProps) => {
  const [isOpen, setOpen] = useState(false)
  useKeys({ c: () => setOpen(true) })
  return (
    <Popover position="bottom-end" width={340} trapFocus opened={isOpen} onChange={setOpen}>
      <Popover.Target>
        <Button size="xs" variant="default" onClick={() => setOpen(!isOpen)}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Choice {...props} />
      </Popover.Dropdown>
    </Popover>
  )
}

/** Asks for the fields when it opens, and not before. */
const Choice = ({ projectId, shown, onChange, onReset }: ColumnPickerProps) => {
  const [typed, setTyped] = useState('')
  const labels: readonly string[] = Object.values(FIELD_LABELS)
  const fields = useFields(projectId, typed).filter((name) => !labels.includes(name))
  const others = [...new Set([...LIST_COLUMNS, ...fields])]
    .filter(
      (name) => !shown.includes(name) && columnOf(name).label.toLowerCase().includes(typed.toLowerCase()),
    )
    .slice(0, OFFERED)
  return (
    <>
      <ul className="column-list" aria-label="Columns shown">
        {shown.map((name, n) => (
          <li key={name}>
            <Checkbox
              size="xs"
              label={columnOf(name).label}
              checked
              disabled={name === OP}
              onChange={() => onChange(shown.filter((one) => one !== name))}
            />
            <Move
              name={name}
              by={-1}
              disabled={n === 0}
              onMove={(by) => onChange(withMoved(shown, name, by))}
            />
            <Move
              name={name}
              by={1}
              disabled={n === shown.length - 1}
              onMove={(by) => onChange(withMoved(shown, name, by))}
            />
          </li>
        ))}
      </ul>
      <TextInput
        size="xs"
        aria-label="Find a field"
        placeholder="Find a field"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        style={{ margin: '8px 0' }}
      />
      <ul className="column-list" aria-label="Other columns">
        {others.map((name) => (
          <li key={name}>
            <Checkbox
              size="xs"
              label={columnOf(name).label}
              checked={false}
              onChange={() => onChange([...shown, name])}
            />
          </li>
        ))}
      </ul>
      <Button size="xs" variant="default" style={{ marginTop: 8 }} onClick={onReset}>
        Reset columns and widths
      </Button>
    </>
  )
}

interface MoveProps {
  readonly name: string
  readonly by: -1 | 1
  readonly disabled: boolean
  readonly onMove: (by: number) => void
}

const Move = ({ name, by, disabled, onMove }: MoveProps) => (
  <ActionIcon
    size="sm"
    variant="subtle"
    aria-label={`Move ${columnOf(name).label} ${by < 0 ? 'left' : 'right'}`}
    disabled={disabled}
    onClick={() => onMove(by)}
  >
    {by < 0 ? '←' : '→'}
  </ActionIcon>
)
