import { Button } from '@mantine/core'
import type { Schemas } from '../kit/api.js'
import { boot } from '../kit/boot.js'
import { plural } from '../kit/format.js'
import { JsonView } from '../kit/json-view.js'
import { Time } from '../kit/time.js'

type Preview = Schemas['AutomationPreview']

/** What the automation of the editor would do: in a sentence, lately, and with the newest matching event. */
export const AutomationPreview = ({
  preview,
  isOld,
  fired,
  onSearchOn,
}: {
  readonly preview: Preview | undefined
  /** The draft has changed since. */
  readonly isOld: boolean
  /** How often it fired in the last 7 days, if it is saved as it is shown. */
  readonly fired: number | undefined
  /** Searches more events; undefined if it cannot search more. */
  readonly onSearchOn: (() => void) | undefined
}) => (
  <section className="page" style={{ padding: 0 }} aria-labelledby="preview" aria-busy={isOld}>
    <h2 id="preview">Preview</h2>
    {preview === undefined ? (
      <div className="secondary">Choose an event to see what it would have done.</div>
    ) : (
      <div className={isOld ? 'page dimmed' : 'page'} style={{ padding: 0 }}>
        <p style={{ margin: 0 }}>
          {preview.sentence ?? 'It appears when the required fields of the event are filled in.'}
        </p>
        {fired !== undefined && (
          <div role="status">
            It fired <strong>{plural(fired, 'time')}</strong> in the last 7 days.
          </div>
        )}
        {fired === undefined && preview.matches_7d !== null && (
          <div role="status">
            {preview.complete === false && preview.matches_7d === 0 ? (
              'No match was found so far.'
            ) : (
              <>
                It would have fired {preview.complete === false && 'at least '}
                <strong>{plural(preview.matches_7d, 'time')}</strong> in the last 7 days.
              </>
            )}
            {preview.complete === false && preview.searched_from !== null && (
              <>
                {' '}
                Events are searched back to <Time at={preview.searched_from} />.{' '}
                {onSearchOn !== undefined && (
                  <Button size="compact-xs" variant="default" loading={isOld} onClick={onSearchOn}>
                    Search on
                  </Button>
                )}
              </>
            )}
          </div>
        )}
        {preview.event !== null && (
          <div className="secondary">
            {fired === undefined ? 'Newest matching event' : 'Newest event that it fired for'}:{' '}
            {preview.event.type}, <Time at={preview.event.recorded_at} />
          </div>
        )}
        {preview.event === null && preview.complete === true && (
          <div className="secondary">No event has matched yet, so there is no message to show.</div>
        )}
        {preview.rendered !== null && (
          <>
            <h3 className="section">Its message</h3>
            <JsonView text={preview.rendered} label="Message" />
          </>
        )}
        {preview.unresolved.length > 0 && (
          <div className="notice" data-tone="warn">
            Variables without a value in this event: {preview.unresolved.join(', ')}
            {preview.unresolved.includes('call_url') && !boot.address && (
              <>. Links need TALLYTREE_PUBLIC_URL, which the operator of the service sets.</>
            )}
          </div>
        )}
      </div>
    )}
  </section>
)
