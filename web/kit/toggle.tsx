import { Button } from '@mantine/core'

/** A button that is on or off. */
export const Toggle = ({
  label,
  isOn,
  onChange,
}: {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}) => (
  <Button
    size="xs"
    variant={isOn ? 'light' : 'default'}
    className="toggle"
    aria-pressed={isOn}
    onClick={() => onChange(!isOn)}
  >
    {label}
  </Button>
)
