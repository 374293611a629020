import { ErasedCalls } from '../erasures/erased-calls.js'
import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useAsOf } from '../kit/as-of.js'
import { FirstTrace } from '../kit/first-trace.js'
import { usePlace } from '../kit/place.js'
import { RangePicker } from '../kit/range-picker.js'
import { Failed } from '../kit/states.js'
import { useTitle } from '../kit/title.js'
import { OverviewChart } from './overview-chart.js'
import { INITIAL_RANGE, useOverview } from './overview-data.js'
import { OverviewFigures } from './overview-figures.js'
import { FailuresTable, OverviewTables } from './overview-tables.js'

/** What a project costs, what fails and who uses it in a range. Every figure leads to the calls behind it. */
export const OverviewPage = () => {
  const place = usePlace()
  const { overview, errors, again } = useOverview()
  const isPresent = useAsOf() === ''
  useTitle('Overview')
  const shown = overview.data
  const wasEmpty = useRef(false)
  useEffect(() => {
    // The first call may have come after the end of the range in which it was found.
    if (shown?.has_calls === true && wasEmpty.current) again()
    wasEmpty.current = shown?.has_calls === false
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when the first call has come
  }, [shown?.has_calls])
  if (shown?.has_calls === false && isPresent) return <FirstTrace isLive={again} />
  return (
    <div className="page">
      <div className="bar">
        <h1>Overview</h1>
        <span className="spacer" />
        <RangePicker initial={INITIAL_RANGE} />
        <Button size="xs" variant="default" loading={overview.isFetching} onClick={again}>
          Refresh
        </Button>
      </div>
      {overview.isError && (
        <Failed error={overview.error} what="The overview" onRetry={() => void overview.refetch()} />
      )}
      <OverviewFigures place={place} shown={shown} />
      <OverviewChart place={place} shown={shown} isStale={overview.isPlaceholderData} />
      <div className="secondary" style={{ minHeight: 20 }}>
        {shown !== undefined &&
          shown.unpriced_models.length > 0 &&
          `Without a price, and not in the costs: ${shown.unpriced_models.join(', ')}`}
      </div>
      <ErasedCalls count={shown?.erased_calls} />
      <div className="eights">
        <OverviewTables place={place} shown={shown} />
        {errors.isError ? (
          <Failed error={errors.error} what="The failures" onRetry={() => void errors.refetch()} />
        ) : (
          <FailuresTable place={place} data={errors.data?.data} range={errors.data?.range} />
        )}
      </div>
    </div>
  )
}
