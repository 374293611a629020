import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { ActionFailed } from '../kit/states.js'
import { bodyOfUpstream, type UpstreamDraft } from './upstream-draft.js'

/** Asks the upstream of the form for its models, without saving it. */
export const UpstreamTester = ({
  team,
  draft,
  saved,
}: {
  readonly team: string
  readonly draft: UpstreamDraft
  readonly saved: Schemas['Upstream'] | undefined
}) => {
  const test = useMutation({
    mutationFn: () => {
      const { timeouts, headers, query } = saved ?? {}
      const kept = {
        ...(timeouts === undefined ? {} : { timeouts }),
        ...(headers === undefined ? {} : { headers }),
        ...(query === undefined ? {} : { query }),
      }
      return dataOf(
        api.POST('/api/inference/upstreams/test', { body: { team, ...kept, ...bodyOfUpstream(draft) } }),
      )
    },
  })
  return (
    <section className="page" style={{ padding: 0 }} aria-labelledby="test">
      <h2 id="test">Test</h2>
      <div className="secondary">Asks for the list of models. It costs nothing and saves nothing.</div>
      <div>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test upstream
        </Button>
      </div>
      <ActionFailed error={test.error} what="The test" />
      <div aria-live="polite">{test.isSuccess && <TestedUpstream result={test.data} />}</div>
    </section>
  )
}

const TestedUpstream = ({ result }: { readonly result: Schemas['TestedUpstream'] }) => {
  const { success, status, duration_ms, models, unknown_models, apis, error } = result
  const tone = !success ? 'danger' : unknown_models.length > 0 ? 'warn' : 'ok'
  return (
    <div className="page" style={{ padding: 0 }}>
      <div className="notice" data-tone={tone}>
        <strong>
          {success
            ? `The upstream lists its models: ${models.length}`
            : status === null
              ? 'The upstream did not answer'
              : `The upstream answered ${status}`}
        </strong>
        {error !== null && <div>{error}</div>}
        {unknown_models.length > 0 && <div>It does not list {unknown_models.join(', ')}.</div>}
      </div>
      <div className="secondary">It took {duration_ms} ms.</div>
      {apis.length > 0 && <div>APIs: {apis.join(', ')}</div>}
      {models.length > 0 && (
        <pre className="code" tabIndex={0} aria-label="Models of the upstream">
          {models.join('\n')}
        </pre>
      )}
    </div>
  )
}
