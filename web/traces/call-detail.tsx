import { Button, Switch, Tabs } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { textOf } from '../kit/api.js'
import { messagesIn, messagesOut, toolsIn } from './conversation.js'
import { duration, opName, wholeNumber } from '../kit/format.js'
import { memberAt, spanText, stringOf, valueAt } from '../kit/json-scan.js'
import { ConversationView } from './conversation-view.js'
import { CopyButton } from '../kit/copy.js'
import { Cost } from '../kit/cost.js'
import { Feedback } from './feedback.js'
import { JsonView } from '../kit/json-view.js'
import { useKeys } from '../kit/keys.js'
import { useAddress, usePlace } from '../kit/place.js'
import { useSetting } from '../kit/settings.js'
import { Failed, Loading } from '../kit/states.js'
import { CallStatus } from '../kit/status.js'
import { Time } from '../kit/time.js'
import { nameOf, statusOf, type TraceColumns } from './trace-columns.js'
import { UsageTab } from './usage-tab.js'

interface Props {
  readonly trace: TraceColumns
  readonly row: number
  readonly onZoom: () => void
}

/** The payload of a call, as text. */
export const payloadOf = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['call', projectId, id],
    queryFn: async ({ signal }) => ({
      id,
      text: await textOf('/call/read', { project_id: projectId, id }, signal),
    }),
    gcTime: 60_000,
  })

/** A call: figures at once, from the trace; its payload when it has arrived, the one before it dimmed until then. */
export const CallDetail = ({ trace, row, onZoom }: Props) => {
  const { projectId } = usePlace()
  const [{ tab = 'call' }, setAddress] = useAddress()
  const id = trace.ids[row]!
  const call = useQuery({ ...payloadOf(projectId, id), placeholderData: (before) => before })
  const age = call.isPlaceholderData ? 'dimmed' : ''
  const length = trace.durations[row] ?? null
  const isUnpriced = trace.unpriced.includes(row)
  const feedback = trace.feedback[String(row)] ?? 0
  return (
    <>
      <div className="bar">
        <h2>{nameOf(trace, row)}</h2>
        <CallStatus status={statusOf(trace, row)} />
        <span className="spacer" />
        <CopyButton text={id}>Copy id</CopyButton>
        <Button
          size="compact-sm"
          variant="default"
          onClick={onZoom}
          title="Show this call and its descendants alone (z)"
        >
          Zoom
        </Button>
      </div>
      <dl className="facts">
        <dt>Started</dt>
        <dd>
          <Time at={(trace.started_us + trace.starts[row]!) / 1000} />
          {length === null ? ', running' : `, took ${duration(length)}`}
        </dd>
        {trace.models[row]! >= 0 && (
          <>
            <dt>Model</dt>
            <dd>{trace.model_names[trace.models[row]!]}</dd>
          </>
        )}
        {trace.tokens[row] !== 0 && (
          <>
            <dt>Tokens</dt>
            <dd>
              {wholeNumber(trace.tokens[row]!)} with all descendants, {wholeNumber(trace.own_tokens[row]!)} of
              its own
            </dd>
            <dt>Cost</dt>
            <dd>
              <Cost dollars={trace.costs[row]!} unpriced={isUnpriced} /> with all descendants,{' '}
              <Cost dollars={trace.own_costs[row]!} unpriced={trace.own_unpriced.includes(row)} /> of its own
            </dd>
          </>
        )}
      </dl>
      <Tabs
        value={tab}
        onChange={(next) => setAddress({ tab: next === 'call' ? '' : (next ?? '') }, true)}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="call">Call</Tabs.Tab>
          <Tabs.Tab value="usage">Usage</Tabs.Tab>
          <Tabs.Tab value="feedback">Feedback{feedback > 0 ? ` (${feedback})` : ''}</Tabs.Tab>
          <Tabs.Tab value="raw">Raw</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="call" pt={12} className={age}>
          {call.isError && <Failed error={call.error} what="The call" onRetry={() => void call.refetch()} />}
          {call.isPending && <Loading what="the call" />}
          {call.isSuccess && <Payload key={call.data.id} text={call.data.text} />}
        </Tabs.Panel>
        <Tabs.Panel value="usage" pt={12}>
          <UsageTab key={id} callId={id} />
        </Tabs.Panel>
        <Tabs.Panel value="feedback" pt={12}>
          <Feedback key={id} callId={id} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt={12} className={age}>
          {call.isSuccess && <JsonView key={call.data.id} text={call.data.text} label="The call" />}
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

/** Longer payload is only shown as JSON: a conversation of millions of characters is no use to a reader. */
const MAX_CONVERSATION = 5_000_000

const parsed = (text: string | undefined): unknown => {
  if (text === undefined || text.length > MAX_CONVERSATION) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const Payload = ({ text }: { readonly text: string }) => {
  const [view, setView] = useSetting('call view', 'messages')
  const [format, setFormat] = useSetting('message format', 'text')
  const call = useMemo(() => {
    const root = valueAt(text, 0)
    const member = (...path: string[]) => {
      const found = memberAt(text, root, 'call', ...path)
      return found === undefined ? undefined : spanText(text, found)
    }
    const inputs = member('inputs') ?? '{}'
    const output = member('output') ?? 'null'
    return {
      inputs,
      output,
      exception: member('exception') ?? 'null',
      attributes: member('attributes') ?? '{}',
      op: stringOf(member('op_name') ?? '""'),
      user: stringOf(member('wb_user_id') ?? 'null'),
      thread: stringOf(member('thread_id') ?? 'null'),
      asked: parsed(inputs),
      answered: parsed(output),
    }
  }, [text])
  const messages = useMemo(() => messagesIn(call.asked, call.op), [call])
  const answers = useMemo(() => messagesOut(call.answered), [call])
  const isConversation = messages.length > 0 || answers.length > 0
  const switchView = () => setView(view === 'messages' ? 'json' : 'messages')
  useKeys({ m: () => isConversation && switchView() })
  return (
    <div className="page" style={{ padding: 0, gap: 12 }}>
      {call.exception !== 'null' && (
        <pre className="notice mono" data-tone="danger" style={{ margin: 0, whiteSpace: 'pre-wrap' }}>
          {stringOf(call.exception)}
        </pre>
      )}
      {isConversation && (
        <div className="bar">
          <Button size="compact-sm" variant="default" onClick={switchView}>
            {view === 'messages' ? 'Show as JSON' : 'Show as messages'}
          </Button>
          {view === 'messages' && (
            <Switch
              size="xs"
              label="Markdown"
              checked={format === 'markdown'}
              onChange={(event) => setFormat(event.currentTarget.checked ? 'markdown' : 'text')}
            />
          )}
        </div>
      )}
      <h3 className="section">Inputs</h3>
      {view === 'messages' && messages.length > 0 ? (
        <ConversationView messages={messages} tools={toolsIn(call.asked)} />
      ) : (
        <JsonView text={call.inputs} label="Inputs" />
      )}
      <h3 className="section">Output</h3>
      {view === 'messages' && answers.length > 0 ? (
        <ConversationView messages={answers} />
      ) : (
        <Output text={call.output} />
      )}
      <details>
        <summary>Attributes and more</summary>
        <JsonView text={call.attributes} label="Attributes" />
        <dl className="facts">
          <dt>Op</dt>
          <dd className="mono">{opName(call.op)}</dd>
          <dt>User</dt>
          <dd>{call.user === 'null' ? '—' : call.user}</dd>
          <dt>Thread</dt>
          <dd>{call.thread === 'null' ? '—' : call.thread}</dd>
        </dl>
      </details>
    </div>
  )
}

/** A single text is read as text; everything else as JSON. */
const Output = ({ text }: { readonly text: string }) => {
  const [isRaw, setRaw] = useState(false)
  if (text === 'null') return <div className="secondary">None</div>
  if (!text.startsWith('"') || isRaw) return <JsonView text={text} label="Output" />
  return (
    <div className="message">
      <header>
        Text
        <Button size="compact-xs" variant="default" onClick={() => setRaw(true)}>
          JSON
        </Button>
      </header>
      <div>{stringOf(text).length > 100_000 ? `${stringOf(text).slice(0, 100_000)}…` : stringOf(text)}</div>
    </div>
  )
}
