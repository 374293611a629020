import { useAddress } from '../kit/place.js'
import { Empty } from '../kit/states.js'
import { useTitle } from '../kit/title.js'
import { CallDiff } from './call-diff.js'

/** Two calls side by side; their ids are in the address. */
export const ComparePage = () => {
  useTitle('Comparison')
  const [{ calls = '' }, setAddress] = useAddress()
  const [left = '', right = ''] = calls.split(',')
  return (
    <div className="page">
      <h1>Comparison of two calls</h1>
      {left === '' || right === '' ? (
        <Empty title="Two calls are compared">
          <p>
            Select two rows in the list of traces and choose <em>Compare</em>, or press <kbd>d</kbd> on a call
            of a trace and select another one.
          </p>
        </Empty>
      ) : (
        <CallDiff
          leftId={left}
          rightId={right}
          onSwap={() => setAddress({ calls: `${right},${left}` }, true)}
        />
      )}
    </div>
  )
}
