import { ApiError } from '../kit/api.js'
import { wholeNumber } from '../kit/format.js'
import { CodeBlock } from '../kit/long-text.js'
import { messageOf } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { useSealing } from './history-data.js'
import { signedBy } from './signed-by.js'

/** Since when the log is sealed, and how to check that without trusting the service. */
export const Sealed = () => {
  const { data, error } = useSealing()
  const latest = data?.data.at(-1)
  return (
    <div className="notice sealed" data-tone={latest === undefined ? undefined : 'ok'}>
      {error !== null ? (
        error instanceof ApiError && error.status === 404 ? (
          <>The log is not sealed here. {messageOf(error)}</>
        ) : (
          <>Whether the log is sealed is not known: {messageOf(error)}</>
        )
      ) : data === undefined ? null : latest === undefined ? (
        <>The log is not sealed yet.</>
      ) : (
        <details>
          <summary>
            Sealed since <Time at={data.sealed_since} />. Checkpoint of {wholeNumber(latest.size)} events,
            signed <Time at={latest.signed_at} />. <strong>Verify it yourself</strong>
          </summary>
          <p>
            Every event is a leaf of a Merkle tree whose root is signed. Keep a{' '}
            <a href="/api/log/checkpoint" download="checkpoint.txt">
              checkpoint
            </a>{' '}
            outside the service: nobody can change, remove or insert an event before it unnoticed. These
            programs check the log, with a key of an administrator in{' '}
            <code className="mono">TALLYTREE_API_KEY</code>:
          </p>
          <CodeBlock
            text={[
              `node bin/verify-log.mjs --url ${location.origin} --checkpoint checkpoint.txt \\`,
              `  --verifier '${signedBy(data) ?? 'KEY'}'`,
              '',
              '# one event',
              'npm run -s tallytree -- log prove EVENT > event.tlog-proof',
              `npm run -s tallytree -- log check event.tlog-proof \\`,
              `  --verifier '${signedBy(data) ?? 'KEY'}'`,
            ].join('\n')}
            language="sh"
          />
        </details>
      )}
    </div>
  )
}
