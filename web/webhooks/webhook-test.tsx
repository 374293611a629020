import { Button, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { CopyButton } from '../kit/copy.js'
import { problemAt } from '../kit/form-errors.js'
import { bodyOfWebhook, type WebhookDraft } from './webhook-draft.js'
import { ActionFailed } from '../kit/states.js'

type Result = Schemas['WebhookTestResult']

/** Sends a message to the webhook as it is in the form, and shows what was sent and what came back. */
export const WebhookTester = ({ team, draft }: { readonly team: string; readonly draft: WebhookDraft }) => {
  const [payload, setPayload] = useState('')
  const test = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/teams/{team}/webhooks/test', {
          params: { path: { team } },
          body: { ...bodyOfWebhook(draft), payload: payload === '' ? null : payload },
        }),
      ),
  })
  const payloadProblem = problemAt(test.error, 'payload')
  return (
    <section className="page" style={{ padding: 0 }} aria-labelledby="test">
      <h2 id="test">Test</h2>
      <Textarea
        label="Test payload"
        description="JSON. It is not stored. Leave it empty for a sample message."
        placeholder='{"hello": "receiver"}'
        autosize
        minRows={3}
        maxRows={12}
        classNames={{ input: 'mono' }}
        value={payload}
        error={payloadProblem}
        onChange={(event) => setPayload(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) test.mutate()
        }}
      />
      <div>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test webhook
        </Button>
      </div>
      {payloadProblem === undefined && <ActionFailed error={test.error} what="The test" />}
      <div aria-live="polite">{test.isSuccess && <TestResult result={test.data} />}</div>
    </section>
  )
}

const verdictOf = ({ status, error }: Result): string =>
  error === null && status !== null
    ? status < 300
      ? `The receiver accepted the message: ${status}`
      : `The receiver answered ${status}`
    : `No answer: ${error ?? 'unknown'}`

const TestResult = ({ result }: { readonly result: Result }) => {
  const isGood = result.error === null && (result.status ?? 500) < 300
  return (
    <div className="page" style={{ padding: 0 }}>
      <div className="notice" data-tone={isGood ? 'ok' : 'danger'}>
        <strong>{verdictOf(result)}</strong>
        {result.hint !== null && <div>{result.hint}</div>}
        {result.address_rule !== null && <div>Rule: {result.address_rule.replaceAll('_', ' ')}</div>}
      </div>
      <Phases phases={result.phases} />
      {result.peer !== null && <div className="secondary">Answered by {result.peer}</div>}
      {result.request !== null && (
        <>
          <h3 className="section">Sent</h3>
          <Message
            first={`${result.request.method} ${result.request.url}`}
            headers={result.request.headers}
            body={result.request.body}
          />
          <div>
            <CopyButton text={curlOf(result.request)}>Copy as curl</CopyButton>
          </div>
        </>
      )}
      {result.status !== null && (
        <>
          <h3 className="section">Answered</h3>
          <Message first={`Status ${result.status}`} headers={result.headers} body={result.body} />
        </>
      )}
    </div>
  )
}

const PHASES: readonly (readonly [name: 'dns' | 'connect' | 'tls' | 'first_byte', label: string])[] = [
  ['dns', 'DNS'],
  ['connect', 'connect'],
  ['tls', 'TLS'],
  ['first_byte', 'first byte'],
]

/** How long each step took, in milliseconds. */
export const Phases = ({ phases }: { readonly phases: Readonly<Record<string, number | null>> }) => {
  const steps = PHASES.flatMap(([name, label]) => {
    const value = phases[name]
    return value === null || value === undefined ? [] : [[label, value] as const]
  })
  return (
    <div className="secondary">
      {steps.map(([label, value]) => `${label} ${Math.round(value)} ms · `)}
      total {Math.round(phases['total'] ?? 0)} ms
    </div>
  )
}

/** A request or an answer as text, never as HTML. */
export const Message = ({
  first,
  headers,
  body,
}: {
  readonly first: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}) => (
  <pre className="code message-text" tabIndex={0} aria-label={first}>
    {first}
    {'\n'}
    {Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}
    {'\n'}
    {body === '' ? '(no body)' : (body ?? '(body not kept)')}
  </pre>
)

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const curlOf = ({ url, headers, body }: NonNullable<Result['request']>): string =>
  [
    `curl -X POST ${quoted(url)}`,
    ...Object.entries(headers)
      .filter(([name]) => !['content-length', 'host', 'connection'].includes(name.toLowerCase()))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(body)}`,
  ].join(' \\\n  ')
