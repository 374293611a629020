import { Button } from '@mantine/core'
import { conjunctsIn } from './filter.js'
import { useAddress } from '../kit/place.js'
import { Empty } from '../kit/states.js'

/** An empty list, and how to see more. */
export const NothingMatches = () => {
  const [{ filter, range = '' }, setAddress] = useAddress()
  const conjuncts = conjunctsIn(filter)
  return (
    <Empty title="No trace matches">
      <p>The search, the time range and all filters above apply.</p>
      <div className="bar">
        {conjuncts.length > 0 && (
          <Button
            size="xs"
            variant="default"
            onClick={() => setAddress({ filter: JSON.stringify({ $and: conjuncts.slice(0, -1) }) })}
          >
            Remove the last filter
          </Button>
        )}
        {range !== '' && (
          <Button size="xs" variant="default" onClick={() => setAddress({ range: '' })}>
            Search all time
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          onClick={() => setAddress({ filter: '', q: '', range: '', roots: '1' })}
        >
          Clear all
        </Button>
      </div>
    </Empty>
  )
}
