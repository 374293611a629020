import { SegmentedControl } from '@mantine/core'

export type ShownSide = 'list' | 'call'

/** Chooses between a list of calls and the selected call, which narrow windows show one at a time. */
export const ShownSideControl = ({
  list,
  shown,
  onChange,
}: {
  /** The name of the list. */
  readonly list: string
  readonly shown: ShownSide
  readonly onChange: (side: ShownSide) => void
}) => (
  <SegmentedControl<ShownSide>
    className="only-below-1200"
    size="xs"
    aria-label="Shown part"
    value={shown}
    onChange={onChange}
    data={[
      { value: 'list', label: list },
      { value: 'call', label: 'Call' },
    ]}
  />
)
