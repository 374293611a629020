import { Button } from '@mantine/core'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import type { Message, Part, Tool } from './conversation.js'
import { wholeNumber } from '../kit/format.js'
import { safeUrl } from '../kit/safe-url.js'
import { LongText } from '../kit/json-view.js'
import { useSetting } from '../kit/settings.js'

/** Messages as cards by role, the system message and the tools folded. */
export const ConversationView = ({
  messages,
  tools = [],
}: {
  readonly messages: readonly Message[]
  readonly tools?: readonly Tool[]
}) => (
  <>
    {tools.length > 0 && (
      <details className="message">
        <summary style={{ padding: '4px 12px' }}>
          {tools.length === 1 ? '1 tool' : `${tools.length} tools`}:{' '}
          {tools
            .map(({ name }) => name)
            .join(', ')
            .slice(0, 1000)}
        </summary>
        <div>
          <Paged items={tools}>
            {({ name, description }, n) => (
              <p key={n}>
                <strong className="mono">{name.slice(0, 1000)}</strong> <LongText text={description} />
              </p>
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
              <strong>{message.role}</strong> {firstLine(message)}
            </summary>
            <Parts parts={message.parts} />
          </details>
        ) : (
          <article className="message" key={n}>
            <header>{message.role.slice(0, 1000)}</header>
            <Parts parts={message.parts} />
          </article>
        )
      }
    </Paged>
  </>
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

const PartView = ({ part }: { readonly part: Part }) => {
  const [format] = useSetting('message format', 'text')
  switch (part.kind) {
    case 'text':
      return format === 'markdown' && part.text.length <= MAX_MARKDOWN ? (
        <Suspense fallback={<div>{part.text}</div>}>
          <Markdown text={part.text} />
        </Suspense>
      ) : (
        <div>
          <LongText text={part.text} />
        </div>
      )
    case 'image':
      // Pictures of other hosts are not loaded: that would tell them who reads the trace.
      return part.url.startsWith('data:image/') ? (
        <img src={part.url} alt="Image of the message" />
      ) : (
        <div>
          Image at{' '}
          <a href={safeUrl(part.url)} rel="noreferrer noopener" target="_blank">
            {part.url.slice(0, 200)}
          </a>
        </div>
      )
    case 'reasoning':
      return (
        <details>
          <summary className="secondary">Reasoning</summary>
          <LongText text={part.text} />
        </details>
      )
    case 'tool call':
      return (
        <div>
          <span className="secondary">Calls</span>{' '}
          <strong className="mono">{part.name.slice(0, 1000)}</strong>
          <Code text={part.input} />
        </div>
      )
    case 'tool result':
      return (
        <div>
          <span className="secondary">Result</span>
          <Code text={part.text} />
        </div>
      )
    case 'refusal':
    case 'file':
      return (
        <div>
          <span className="secondary">{part.kind === 'file' ? 'File' : 'Refuses:'}</span>{' '}
          <LongText text={part.text} />
        </div>
      )
    case 'other':
      return <Code text={part.text} />
  }
}

const Code = ({ text }: { readonly text: string }) => (
  <pre className="code">
    <LongText text={text} />
  </pre>
)
