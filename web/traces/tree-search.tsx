import { SegmentedControl, TextInput } from '@mantine/core'
import { plural, wholeNumber } from '../kit/format.js'
import { Toggle } from '../kit/toggle.js'

export type Kinds = 'all' | 'errors' | 'models'

interface TreeSearchProps {
  readonly text: string
  readonly onText: (text: string) => void
  /** The number of calls whose name has the text, and the place of the selected one among them, from 1. */
  readonly matches: number
  readonly at: number
  readonly onMove: (step: 1 | -1) => void
  readonly kinds: Kinds
  readonly onKinds: (kinds: Kinds) => void
  readonly areFiguresShown: boolean
  readonly onFigures: (areShown: boolean) => void
  readonly isPathShown: boolean
  readonly onPath: (isShown: boolean) => void
}

/** Finds calls of a trace by name, narrows the tree to failed ones or those of models, and marks the critical path. */
export const TreeSearch = ({
  text,
  onText,
  matches,
  at,
  onMove,
  kinds,
  onKinds,
  areFiguresShown,
  onFigures,
  isPathShown,
  onPath,
}: TreeSearchProps) => (
  <div className="bar tree-search">
    <TextInput
      size="xs"
      type="search"
      aria-label="Find a call by name"
      placeholder="Find a call"
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
      onKeyDown={({ key, shiftKey }) => {
        if (key === 'Escape') onText('')
        const step =
          key === 'ArrowDown' || (key === 'Enter' && !shiftKey)
            ? 1
            : key === 'ArrowUp' || key === 'Enter'
              ? -1
              : 0
        if (step !== 0) onMove(step)
      }}
    />
    <span className="secondary" role="status">
      {text !== '' &&
        (at > 0 ? `${wholeNumber(at)} of ${wholeNumber(matches)}` : plural(matches, 'match', 'matches'))}
    </span>
    <span className="spacer" />
    <SegmentedControl
      size="xs"
      aria-label="Calls of the tree"
      value={kinds}
      onChange={(next) => onKinds(next)}
      data={[
        { value: 'all', label: 'All' },
        { value: 'errors', label: 'Errors' },
        { value: 'models', label: 'LLM only' },
      ]}
    />
    <Toggle label="Critical path" isOn={isPathShown} onChange={onPath} />
    <Toggle label="Figures" isOn={areFiguresShown} onChange={onFigures} />
  </div>
)
