import { Button } from '@mantine/core'
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react'
import type { Message, Tool } from './conversation.js'
import type { Part } from './message-parts.js'
import { wholeNumber } from '../kit/format.js'
import { safeUrl } from '../kit/safe-url.js'
import { CodeBlock, LongText } from '../kit/long-text.js'
import { Name } from '../kit/marked.js'
import { useSetting } from '../kit/settings.js'

/** Messages as cards by role, the system message and the tools folded. */
export const ConversationView = ({
  messages,
  tools = [],
}: {
  readonly messages: readonly Message[]
  readonly tools?: readonly Tool[]
}) => {
  const nameOf = useMemo(() => namesOfCalls(messages), [messages])
  return (
    <>
      {tools.length > 0 && (
        <details className="message">
          <summary style={{ padding: '4px 12px' }}>
            {tools.length === 1 ? '1 tool' : `${tools.length} tools`}:{' '}
            <Name
              text={tools
                .map(({ name }) => name)
                .join(', ')
                .slice(0, 1000)}
            />
          </summary>
          <div>
            <Paged items={tools}>
              {({ name, description, rest }, n) => (
                <div key={n}>
                  <p dir="auto">
                    <ToolName name={name} /> <LongText text={description} />
                  </p>
                  {rest !== '' && <CodeBlock text={rest} language="json" />}
                </div>
              )}
            </Paged>
          </div>
        </details>
      )}
      <Paged items={messages}>
        {(message, n) =>
          message.role === 'system' || message.role === 'developer' ? (
            <details className="message" key={n}>
              <summary
                style={{
                  padding: '4px 12px',
                  overflow: 'hidden',
                  textOverflow: 'ellipsis',
                  whiteSpace: 'nowrap',
                }}
              >
                <strong>
                  <Name text={message.role} />
                </strong>{' '}
                <Name text={firstLine(message)} />
              </summary>
              <Parts parts={message.parts} />
            </details>
          ) : (
            <article className="message" key={n}>
              <header>
                <Name text={message.role.slice(0, 1000)} />
                <Written by={message} nameOf={nameOf} />
              </header>
              <Parts parts={message.parts} />
            </article>
          )
        }
      </Paged>
    </>
  )
}

/** The names of the tools, by the ids of their calls. */
const namesOfCalls = (messages: readonly Message[]): ReadonlyMap<string, string> =>
  new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'tool call' ? [[part.id, part.name] as const] : [])),
    ),
  )

/** The name of a message, or of which tool call it is the result. */
const Written = ({
  by: { name, callId },
  nameOf,
}: {
  readonly by: Message
  readonly nameOf: ReadonlyMap<string, string>
}) => {
  const tool = name ?? (callId === undefined ? undefined : nameOf.get(callId))
  return (
    <>
      {tool !== undefined && <ToolName name={tool} />}
      {callId !== undefined && <CallId id={callId} />}
    </>
  )
}

const ToolName = ({ name }: { readonly name: string }) => (
  <strong className="mono">
    <Name text={name.slice(0, 1000)} />
  </strong>
)

const CallId = ({ id }: { readonly id: string }) =>
  id !== '' && (
    <span className="secondary mono">
      <Name text={id.slice(0, 1000)} />
    </span>
  )

/** Payload of a few megabytes may have more items than a browser can show at once. */
const PAGE = 200

const Paged = <Item,>({
  items,
  children,
}: {
  readonly items: readonly Item[]
  readonly children: (item: Item, n: number) => ReactNode
}) => {
  const [shown, setShown] = useState(PAGE)
  const left = items.length - shown
  return (
    <>
      {items.slice(0, shown).map(children)}
      {left > 0 && (
        <Button size="compact-xs" variant="default" onClick={() => setShown(shown + PAGE)}>
          Show {Math.min(PAGE, left)} more of {wholeNumber(items.length)}
        </Button>
      )}
    </>
  )
}

const firstLine = ({ parts: [first] }: Message): string =>
  first?.kind === 'text' ? (first.text.split('\n')[0] ?? '').slice(0, 120) : ''

const Parts = ({ parts }: { readonly parts: readonly Part[] }) => (
  <div>
    {parts.length === 0 && <span className="secondary">No content</span>}
    <Paged items={parts}>{(part, n) => <PartView key={n} part={part} />}</Paged>
  </div>
)

/** Drawn as Markdown on demand; longer text is always plain. */
const MAX_MARKDOWN = 100_000

const Markdown = lazy(async () => ({ default: (await import('../kit/markdown.js')).Markdown }))

/** Text as it is, or drawn as Markdown. */
export const TextView = ({ text, isMarkdown }: { readonly text: string; readonly isMarkdown: boolean }) =>
  isMarkdown && text.length <= MAX_MARKDOWN ? (
    <Suspense fallback={<div dir="auto">{text}</div>}>
      <Markdown text={text} />
    </Suspense>
  ) : (
    <div dir="auto">
      <LongText text={text} />
    </div>
  )

const PartView = ({ part }: { readonly part: Part }) => {
  const [format] = useSetting('message format', 'text')
  switch (part.kind) {
    case 'text':
      return <TextView text={part.text} isMarkdown={format === 'markdown'} />
    case 'image':
      // Pictures of other hosts are not loaded: that would tell them who reads the trace.
      return part.url.startsWith('data:image/') ? (
        <img src={part.url} alt="Image of the message" />
      ) : (
        <div>
          Image at{' '}
          <a href={safeUrl(part.url)} rel="noreferrer noopener" target="_blank">
            <Name text={part.url.slice(0, 200)} />
          </a>
        </div>
      )
    case 'reasoning':
      return (
        <details>
          <summary className="secondary">Reasoning</summary>
          <div dir="auto">
            <LongText text={part.text} />
          </div>
        </details>
      )
    case 'tool call':
      return (
        <div>
          <span className="secondary">Calls</span> <ToolName name={part.name} /> <CallId id={part.id} />
          <CodeBlock text={part.input} language="json" />
        </div>
      )
    case 'tool result':
      return (
        <div>
          <span className="secondary">Result</span> <CallId id={part.id} />
          <CodeBlock text={part.text} language="json" />
        </div>
      )
    case 'refusal':
    case 'file':
      return (
        <div dir="auto">
          <span className="secondary">{part.kind === 'file' ? 'File' : 'Refuses:'}</span>{' '}
          <LongText text={part.text} />
        </div>
      )
    case 'other':
      return <CodeBlock text={part.text} language="json" />
  }
}
