import { Button } from '@mantine/core'
import { AppLink } from '../kit/app-link.js'
import { wholeNumber } from '../kit/format.js'
import { memberAt, spanText, valueAt } from '../kit/json-scan.js'
import { JsonView } from '../kit/json-view.js'
import { CodeBlock } from '../kit/long-text.js'
import { Name } from '../kit/marked.js'
import { usePlace } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { objectIn, wordsOf } from './event-types.js'
import { useEvent, useSealing, type HistoryEvent } from './history-data.js'
import { signedBy } from './signed-by.js'

/** The event at a position: where it is in the log, what it says, and the proof that it is there. */
export const EventPanel = ({
  position,
  onClose,
}: {
  readonly position: string
  readonly onClose: () => void
}) => {
  const found = useEvent(position)
  return (
    <aside aria-label="The event">
      <div className="bar">
        <h2>{found.data ? wordsOf(found.data.event.type) : 'Event'}</h2>
        <span className="spacer" />
        <Button size="compact-xs" variant="default" onClick={onClose}>
          Close
        </Button>
      </div>
      {found.isError && <Failed error={found.error} what="The event" onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the event" />}
      {found.data === null && <div className="notice">The project has no such event at {position}.</div>}
      {found.data && <Details {...found.data} />}
    </aside>
  )
}

const Details = ({ line, event }: { readonly line: string; readonly event: HistoryEvent }) => {
  const { team, project } = usePlace()
  const object = objectIn(event.stream)
  const part = (name: string) => {
    const span = memberAt(line, valueAt(line, 0), name)
    return span === undefined ? undefined : spanText(line, span)
  }
  const data = part('data')
  const metadata = part('metadata')
  return (
    <>
      <dl className="facts">
        <dt>When</dt>
        <dd>
          <Time at={event.recorded_at ?? null} />
        </dd>
        <dt>By</dt>
        <dd>
          <Name text={event.metadata?.actor ?? '—'} />
        </dd>
        <dt>Stream</dt>
        <dd className="mono">
          <Name text={event.stream} />, revision {event.revision}
        </dd>
        <dt>Event id</dt>
        <dd className="mono">{event.id}</dd>
        <dt>Position</dt>
        <dd>{event.position}</dd>
        <dt>Index</dt>
        <dd>{event.index === undefined ? 'not sealed yet' : wholeNumber(event.index)}</dd>
      </dl>
      <div className="bar">
        {object !== '' && (
          <AppLink href={`/${team}/${project}/history${printSearch({ object, event: event.position })}`}>
            All events of this object
          </AppLink>
        )}
        <AppLink href={`/${team}/${project}/traces${printSearch({ as_of: event.position })}`}>
          The traces as of this event
        </AppLink>
      </div>
      {event.erased === true && (
        <div className="notice">
          Its content was erased. The signed log has its digest, so the proof stays.
        </div>
      )}
      {event.unreadable !== undefined && (
        <div className="notice" data-tone="danger">
          The log is damaged here: <Name text={event.unreadable} />
        </div>
      )}
      {data !== undefined && (
        <>
          <h3 className="section">Data</h3>
          <JsonView text={data} label="Data" />
        </>
      )}
      {metadata !== undefined && (
        <>
          <h3 className="section">Metadata</h3>
          <JsonView text={metadata} label="Metadata" />
        </>
      )}
      {event.index !== undefined && <Proof event={event} />}
    </>
  )
}

/** The commands that check the proof without the service. */
const Proof = ({ event: { id, stream } }: { readonly event: HistoryEvent }) => {
  const { data } = useSealing()
  const key = (data && signedBy(data)) ?? 'KEY'
  const file = `${id}.tlog-proof`
  return (
    <>
      <h3 className="section">Proof</h3>
      <div>
        <a href={`/api/log/proof${printSearch({ event: id, stream })}`} download={file}>
          Download the proof
        </a>{' '}
        that the signed log has this event, and check it:
      </div>
      <CodeBlock text={`npm run -s tallytree -- log check ${file} \\\n  --verifier '${key}'`} language="sh" />
    </>
  )
}
