import { Button, Checkbox, Menu, TextInput } from '@mantine/core'
import { useState } from 'react'
import { FIELD_LABELS } from '../filter.js'
import { useFields } from './filter-bar.js'

interface ColumnPickerProps {
  readonly projectId: string
  readonly chosen: readonly string[]
  readonly onChange: (columns: readonly string[]) => void
}

/** Chooses further columns from all fields of the calls. */
export const ColumnPicker = ({ projectId, chosen, onChange }: ColumnPickerProps) => {
  const [typed, setTyped] = useState('')
  const labels: readonly string[] = Object.values(FIELD_LABELS)
  const fields = useFields(projectId, typed).filter((name) => !labels.includes(name))
  return (
    <Menu position="bottom-end" width={320} closeOnItemClick={false}>
      <Menu.Target>
        <Button size="xs" variant="default">
          Columns{chosen.length > 0 ? ` (${chosen.length})` : ''}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <TextInput
          size="xs"
          aria-label="Find a field"
          placeholder="Find a field"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {[...new Set([...chosen, ...fields])].slice(0, 15).map((name) => (
          <Menu.Item
            key={name}
            role="menuitemcheckbox"
            aria-checked={chosen.includes(name)}
            leftSection={
              <Checkbox size="xs" readOnly tabIndex={-1} checked={chosen.includes(name)} aria-hidden />
            }
            onClick={() =>
              onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name])
            }
          >
            {name}
          </Menu.Item>
        ))}
        {chosen.length > 0 && <Menu.Item onClick={() => onChange([])}>Reset</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  )
}
