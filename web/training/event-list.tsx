import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { wholeNumber } from '../kit/format.js'
import type { JobEvent } from './job-events.js'
import { Time } from '../kit/time.js'

const ROW_PX = 28

/** The events of a job, newest first. Only the visible rows are mounted. */
export const EventList = ({ events }: { readonly events: readonly JobEvent[] }) => {
  const scroll = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
  })
  return (
    <div ref={scroll} className="event-list" tabIndex={0} role="region" aria-label="Events of the job">
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const at = events.length - 1 - index
          const event = events[at]!
          const text = textOf(event)
          return (
            <li
              key={event.id}
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={events.length}
              aria-posinset={index + 1}
            >
              <span className="number secondary">{wholeNumber(at + 1)}</span>
              <span>{event.type.replaceAll('_', ' ')}</span>
              <span className="mono" title={text}>
                {text}
              </span>
              <Time at={event.created_at} />
            </li>
          )
        })}
      </ol>
    </div>
  )
}

const textOf = ({ data }: JobEvent): string =>
  Object.entries(data)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ')
