import { Button, Checkbox, Popover, TextInput } from '@mantine/core'
import { useState } from 'react'

const OFFERED = 15

/** Chooses columns among the values of configurations and summaries. */
export const ColumnMenu = ({
  names,
  shown,
  most,
  onChange,
}: {
  readonly names: readonly string[]
  readonly shown: readonly string[]
  readonly most: number
  readonly onChange: (names: readonly string[]) => void
}) => {
  const [typed, setTyped] = useState('')
  const others = names
    .filter((name) => !shown.includes(name) && name.toLowerCase().includes(typed.toLowerCase()))
    .slice(0, OFFERED)
  const box = (name: string) => (
    <li key={name}>
      <Checkbox
        size="xs"
        label={name}
        checked={shown.includes(name)}
        disabled={!shown.includes(name) && shown.length >= most}
        onChange={({ currentTarget: { checked } }) =>
          onChange(checked ? [...shown, name] : shown.filter((one) => one !== name))
        }
      />
    </li>
  )
  return (
    <Popover position="bottom-end" width={340} trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className="column-list" aria-label="Columns shown">
          {shown.map(box)}
        </ul>
        <TextInput
          size="xs"
          aria-label="Find a value"
          placeholder="Find a value of config or summary"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          style={{ margin: '8px 0' }}
        />
        <ul className="column-list" aria-label="Other columns">
          {others.map(box)}
        </ul>
      </Popover.Dropdown>
    </Popover>
  )
}
