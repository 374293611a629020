import { Button } from '@mantine/core'
import { AppLink } from '../kit/app-link.js'
import { usePlace } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { CallDiff } from './call-diff.js'

interface Props {
  readonly leftId: string
  /** The selected call. */
  readonly rightId: string
  readonly onSwap: () => void
  readonly onStop: () => void
}

/** The comparison of a call with the one that is selected in its trace. */
export const Comparison = ({ leftId, rightId, onSwap, onStop }: Props) => {
  const { team, project } = usePlace()
  const stop = (
    <Button size="compact-sm" variant="default" onClick={onStop}>
      Stop comparing
    </Button>
  )
  if (leftId === rightId)
    return (
      <div className="notice">
        <p style={{ marginTop: 0 }}>Select the call of the trace to compare this one with.</p>
        {stop}
      </div>
    )
  return (
    <CallDiff leftId={leftId} rightId={rightId} onSwap={onSwap}>
      {stop}
      <AppLink href={`/${team}/${project}/compare${printSearch({ calls: `${leftId},${rightId}` })}`}>
        Open on a page
      </AppLink>
    </CallDiff>
  )
}
