import { lazy, Suspense } from 'react'
import type { Message, Part, Tool } from '../conversation.js'
import { safeUrl } from '../safe-url.js'
import { LongText } from './json-view.js'
import { useSetting } from './settings.js'

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
          {tools.map(({ name }) => name).join(', ')}
        </summary>
        <div>
          {tools.map(({ name, description }) => (
            <p key={name}>
              <strong className="mono">{name}</strong> {description}
            </p>
          ))}
        </div>
      </details>
    )}
    {messages.map((message, n) =>
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
          <header>{message.role}</header>
          <Parts parts={message.parts} />
        </article>
      ),
    )}
  </>
)

const firstLine = ({ parts: [first] }: Message): string =>
  first?.kind === 'text' ? (first.text.split('\n')[0] ?? '').slice(0, 120) : ''

const Parts = ({ parts }: { readonly parts: readonly Part[] }) => (
  <div>
    {parts.length === 0 && <span className="secondary">No content</span>}
    {parts.map((part, n) => (
      <PartView key={n} part={part} />
    ))}
  </div>
)

/** Drawn as Markdown on demand; longer text is always plain. */
const MAX_MARKDOWN = 100_000

const Markdown = lazy(async () => ({ default: (await import('./markdown.js')).Markdown }))

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
          <span className="secondary">Calls</span> <strong className="mono">{part.name}</strong>
          <pre className="code">{part.input}</pre>
        </div>
      )
    case 'other':
      return (
        <pre className="code">
          <LongText text={part.text} />
        </pre>
      )
  }
}
