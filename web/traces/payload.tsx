import { Button, SegmentedControl, Switch } from '@mantine/core'
import { Fragment, useMemo } from 'react'
import { JsonView } from '../kit/json-view.js'
import { memberAt, spanText, stringOf, valueAt } from '../kit/json-scan.js'
import { useKeys } from '../kit/keys.js'
import { Marked, Name } from '../kit/marked.js'
import { opName } from '../kit/format.js'
import { useSetting } from '../kit/settings.js'
import { messagesIn, messagesOut, shownInputs, toolsIn } from './conversation.js'
import { ConversationView, TextView } from './conversation-view.js'
import { otherInputs, type OtherInputs } from './other-inputs.js'

/** Longer payload is only shown as JSON: a conversation of millions of characters is no use to a reader. */
const MAX_CONVERSATION = 5_000_000

const parsed = (text: string): unknown => {
  if (text.length > MAX_CONVERSATION) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The parts of a call as `/call/read` gives it, each as it was written. */
export const partsOfCall = (text: string) => {
  const root = valueAt(text, 0)
  const member = (...path: string[]) => {
    const found = memberAt(text, root, 'call', ...path)
    return found === undefined ? undefined : spanText(text, found)
  }
  const word = (name: string) => {
    const text = member(name) ?? 'null'
    return text === 'null' ? '—' : stringOf(text)
  }
  const inputs = member('inputs') ?? '{}'
  const output = member('output') ?? 'null'
  return {
    inputs,
    output,
    exception: member('exception') ?? 'null',
    attributes: member('attributes') ?? '{}',
    op: stringOf(member('op_name') ?? '""'),
    user: word('wb_user_id'),
    thread: word('thread_id'),
    asked: parsed(inputs),
    answered: parsed(output),
    isErased: ['attributes', 'summary'].some((of) => member(of, 'tallytree', 'erased') === 'true'),
  }
}

/** What a call got and returned: as messages where it is a conversation, else as text or JSON. */
export const Payload = ({ text }: { readonly text: string }) => {
  const [view, setView] = useSetting('call view', 'messages')
  const [format, setFormat] = useSetting('message format', 'text')
  const call = useMemo(() => partsOfCall(text), [text])
  const messages = useMemo(() => messagesIn(call.asked, call.op), [call])
  const answers = useMemo(() => messagesOut(call.answered), [call])
  const others = useMemo(() => otherInputs(call.inputs, shownInputs(call.asked, call.op)), [call])
  const isConversation = messages.length > 0 || answers.length > 0
  const switchView = () => setView(view === 'messages' ? 'json' : 'messages')
  useKeys({ m: () => isConversation && switchView() })
  return (
    <div className="page" style={{ padding: 0, gap: 12 }}>
      {call.isErased && <p className="notice">The content of this call was erased.</p>}
      {call.exception !== 'null' && (
        <pre className="notice mono" data-tone="danger" style={{ margin: 0, whiteSpace: 'pre-wrap' }}>
          <Marked text={stringOf(call.exception)} />
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
        <>
          <Parameters of={others} />
          <ConversationView messages={messages} tools={toolsIn(call.asked)} />
          {others.json !== '' && (
            <>
              <h3 className="section">Other inputs</h3>
              <JsonView text={others.json} label="Other inputs" path="inputs" />
            </>
          )}
        </>
      ) : (
        <JsonView text={call.inputs} label="Inputs" path="inputs" />
      )}
      <h3 className="section">Output</h3>
      {view === 'messages' && answers.length > 0 ? (
        <ConversationView messages={answers} />
      ) : (
        <Output text={call.output} />
      )}
      <details>
        <summary>Attributes and more</summary>
        <JsonView text={call.attributes} label="Attributes" path="attributes" />
        <dl className="facts">
          <dt>Op</dt>
          <dd className="mono">
            <Name text={opName(call.op)} />
          </dd>
          <dt>User</dt>
          <dd>
            <Name text={call.user} />
          </dd>
          <dt>Thread</dt>
          <dd>
            <Name text={call.thread} />
          </dd>
        </dl>
      </details>
    </div>
  )
}

const Parameters = ({ of: { parameters } }: { readonly of: OtherInputs }) =>
  parameters.length > 0 && (
    <p className="parameters" aria-label="Parameters" role="group">
      {parameters.map(([name, value], n) => (
        <Fragment key={name}>
          {n > 0 && ' · '}
          <span className="secondary">
            <Name text={name} />
          </span>{' '}
          <Name text={value} />
        </Fragment>
      ))}
    </p>
  )

const FORMATS = [
  { value: 'text', label: 'Text' },
  { value: 'markdown', label: 'Markdown' },
  { value: 'json', label: 'JSON' },
]

/** A single text is read as text or Markdown; everything else as JSON. */
const Output = ({ text }: { readonly text: string }) => {
  const [format, setFormat] = useSetting('output format', 'text')
  if (text === 'null') return <div className="secondary">None</div>
  if (!text.startsWith('"')) return <JsonView text={text} label="Output" path="output" />
  return (
    <div className="message">
      <header>
        <SegmentedControl
          size="xs"
          aria-label="Format of the output"
          data={FORMATS}
          value={format}
          onChange={setFormat}
        />
      </header>
      <div>
        {format === 'json' ? (
          <JsonView text={text} label="Output" path="output" />
        ) : (
          <TextView text={stringOf(text)} isMarkdown={format === 'markdown'} />
        )}
      </div>
    </div>
  )
}
