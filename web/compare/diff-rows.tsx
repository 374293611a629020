import { useMemo, type ReactNode } from 'react'
import { wholeNumber } from '../kit/format.js'
import { LongText } from '../kit/long-text.js'
import { Marked, Name } from '../kit/marked.js'
import { useAddress } from '../kit/place.js'
import type { Message } from '../traces/conversation.js'
import { aligned, wordPieces } from './align.js'
import { jsonDifferences, MAX_LEAVES } from './json-leaves.js'

interface RowProps {
  readonly field: string
  readonly isEqual: boolean
  readonly left: ReactNode
  readonly right: ReactNode
}

export const DiffRow = ({ field, isEqual, left, right }: RowProps) => (
  <div className="diff-row" role="group" aria-label={field} data-equal={isEqual || undefined}>
    <div className="secondary">
      <Name text={field} />
    </div>
    <div>{left}</div>
    <div>{right}</div>
  </div>
)

export const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="diff-section" aria-label={title}>
    <h2>{title}</h2>
    {children}
    <p className="secondary">No differences</p>
  </section>
)

/** Longer texts are shown without their differences. */
const MAX_WORDS = 200_000

interface WordsProps {
  readonly field: string
  readonly left: string | undefined
  readonly right: string | undefined
}

/** Two texts with their different words coloured; undefined is no text. */
export const Words = ({ field, left, right }: WordsProps) => {
  const isLong = (left?.length ?? 0) + (right?.length ?? 0) > MAX_WORDS
  const pieces = useMemo(
    () => (isLong || left === right ? undefined : wordPieces(left ?? '', right ?? '')),
    [isLong, left, right],
  )
  const side = (of: 'left' | 'right', text: string | undefined) =>
    text === undefined ? (
      <span className="secondary">none</span>
    ) : (
      <div className="diff-text" dir="auto">
        {pieces === undefined ? (
          <LongText text={text} />
        ) : (
          pieces.map((piece, n) => {
            const Element = piece.of === 'left' ? 'del' : 'ins'
            if (piece.of === 'both') return <LongText key={n} text={piece.text} />
            return (
              piece.of === of && (
                <Element key={n}>
                  <Marked text={piece.text} />
                </Element>
              )
            )
          })
        )}
      </div>
    )
  return (
    <DiffRow field={field} isEqual={left === right} left={side('left', left)} right={side('right', right)} />
  )
}

const MAX_ROWS = 500

export const JsonRows = ({ left, right }: { readonly left: string; readonly right: string }) => {
  const { rows, isCut } = useMemo(() => jsonDifferences(left, right), [left, right])
  const [{ all = '' }] = useAddress()
  const shown = rows.filter((row) => row.path !== '' || !isEmptyValue(row.left) || !isEmptyValue(row.right))
  const wanted = all === '' ? shown.filter((row) => row.left !== row.right) : shown
  return (
    <>
      {wanted.slice(0, MAX_ROWS).map((row) => (
        <Words key={row.path} field={row.path} left={row.left} right={row.right} />
      ))}
      {(isCut || wanted.length > MAX_ROWS) && (
        <div className="notice" data-tone="warn" role="note">
          {isCut
            ? `Only the first ${wholeNumber(MAX_LEAVES)} values of each call are compared, and none of more than 2 MB.`
            : `${wholeNumber(wanted.length - MAX_ROWS)} more values are not shown.`}
        </div>
      )}
    </>
  )
}

const isEmptyValue = (value: string | undefined): boolean => value === undefined || value === '{}'

const textOfMessage = ({ name, callId, parts }: Message): string =>
  [
    ...[name, callId].filter((one) => one !== undefined),
    ...parts.map((part) =>
      part.kind === 'image'
        ? part.url
        : part.kind === 'tool call'
          ? `${part.name}(${part.input})`
          : part.text,
    ),
  ].join('\n')

export const Messages = ({
  left,
  right,
}: {
  readonly left: readonly Message[]
  readonly right: readonly Message[]
}) => {
  const pairs = useMemo(
    () =>
      aligned(
        left,
        right,
        (message) => `${message.role}\n${textOfMessage(message)}`,
        ({ role }) => role,
      ),
    [left, right],
  )
  return pairs.map((pair, n) => (
    <Words
      key={n}
      field={(pair.left ?? pair.right)!.role}
      left={pair.left && textOfMessage(pair.left)}
      right={pair.right && textOfMessage(pair.right)}
    />
  ))
}
