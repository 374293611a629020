import { Button } from '@mantine/core'
import { useRef } from 'react'
import { EXAMPLES } from './automation-draft.js'
import type { EventInfo } from './event-types.js'

/** A problem at a place in the text. */
export interface Mark {
  readonly msg: string
  readonly start: number
  readonly end: number
  readonly suggestion: string | null
}

/** The text of a payload with its problems marked at their places, and the variables of the event to insert. */
export const PayloadEditor = ({
  value,
  marks,
  error,
  info,
  onChange,
}: {
  readonly value: string
  readonly marks: readonly Mark[]
  readonly error: string | undefined
  readonly info: EventInfo
  readonly onChange: (value: string) => void
}) => {
  const area = useRef<HTMLTextAreaElement>(null)
  const back = useRef<HTMLPreElement>(null)
  const insert = (text: string) => {
    const { selectionStart: from, selectionEnd: to } = area.current!
    onChange(value.slice(0, from) + text + value.slice(to))
    const after = from + text.length
    setTimeout(() => {
      area.current?.focus()
      area.current?.setSelectionRange(after, after)
    }, 0)
  }
  const replace = ({ start, end, suggestion }: Mark) =>
    onChange(value.slice(0, start) + (suggestion ?? '') + value.slice(end))
  const isWrong = marks.length > 0 || error !== undefined
  return (
    <div className="payload">
      <label htmlFor="payload" className="label">
        Payload
      </label>
      <div className="secondary" id="payload-help">
        JSON with variables such as {'${event_type}'}; inside quotes they are text.
      </div>
      <div className="payload-area">
        <pre ref={back} className="mono" dir="auto" aria-hidden="true">
          {marked(value, marks)}
          {'\n'}
        </pre>
        <textarea
          ref={area}
          id="payload"
          dir="auto"
          className="mono"
          rows={10}
          spellCheck={false}
          aria-invalid={isWrong || undefined}
          aria-describedby="payload-help payload-problems"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          onScroll={(event) => {
            if (back.current !== null) back.current.scrollTop = event.currentTarget.scrollTop
          }}
        />
      </div>
      <ul id="payload-problems" className="problems">
        {error !== undefined && <li>{error}</li>}
        {marks.map((mark) => (
          <li key={`${mark.start} ${mark.msg}`}>
            {placeOf(value, mark.start)}: {mark.msg}{' '}
            {mark.suggestion !== null && (
              <Button size="compact-xs" variant="default" onClick={() => replace(mark)}>
                Use {mark.suggestion}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div className="bar" role="group" aria-label="Variables">
        <span className="secondary">Insert</span>
        {info.variables.map(({ name, example }) => (
          <Button
            key={name}
            size="compact-xs"
            variant="default"
            title={`For example ${JSON.stringify(example)}`}
            onClick={() => insert(`\${${name}}`)}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className="bar" role="group" aria-label="Examples">
        <span className="secondary">Start from</span>
        {EXAMPLES.map(([label, payload]) => (
          <Button key={label} size="compact-xs" variant="default" onClick={() => onChange(payload(info))}>
            {label}
          </Button>
        ))}
      </div>
    </div>
  )
}

const placeOf = (text: string, at: number): string => {
  const before = text.slice(0, at).split('\n')
  return `Line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** The text in pieces, with the wrong ones underlined. Overlapping marks are shown once. */
const marked = (text: string, marks: readonly Mark[]) => {
  const pieces = []
  let from = 0
  for (const { start, end } of [...marks].sort((a, b) => a.start - b.start)) {
    if (start < from) continue
    const to = Math.max(end, start + 1)
    pieces.push(text.slice(from, start), <mark key={start}>{text.slice(start, to) || ' '}</mark>)
    from = to
  }
  return [...pieces, text.slice(from)]
}
