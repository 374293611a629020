import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { codeTokens } from './code.js'
import { CopyButton } from './copy.js'
import { wholeNumber } from './format.js'
import { Marked } from './marked.js'
import { useIsPrinting } from './printing.js'

const FOLDED_CHARACTERS = 2000
const PRINTED_CHARACTERS = 100_000

const BASE64 = /^(data:([\w/+.-]+);base64,)?([A-Za-z0-9+/\r\n]{200,}={0,2})$/

/** Text that is folded where it is long. Base64 is an image, or a size. */
export const LongText = ({
  text,
  paint = (part) => <Marked text={part} />,
}: {
  readonly text: string
  readonly paint?: (part: string) => ReactNode
}) => {
  const [isWhole, setWhole] = useState(false)
  const most = useIsPrinting() ? PRINTED_CHARACTERS : FOLDED_CHARACTERS
  const [, , type = imageTypeOf(text), data] = BASE64.exec(text) ?? []
  if (data !== undefined) {
    const size = `${wholeNumber(Math.round((data.length * 3) / 4 / 1024))} KB of base64`
    return type?.startsWith('image/') === true ? (
      <img alt={size} src={`data:${type};base64,${data}`} />
    ) : (
      <span className="secondary">{size}</span>
    )
  }
  if (text.length <= most || isWhole) return paint(text)
  return (
    <>
      {paint(text.slice(0, most))}…{' '}
      <Button size="compact-xs" variant="default" onClick={() => setWhole(true)}>
        Show all {wholeNumber(text.length)} characters
      </Button>
    </>
  )
}

const IMAGE_STARTS: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

const imageTypeOf = (text: string): string | undefined =>
  IMAGE_STARTS.find(([start]) => text.startsWith(start))?.[1]

/** Code in the colours of its language, with a button that copies it. */
export const CodeBlock = ({ text, language = '' }: { readonly text: string; readonly language?: string }) => (
  <div className="code-block">
    <pre className="code">
      <LongText
        text={text}
        paint={(part) =>
          codeTokens(part, language).map((token, n) => (
            <span key={n} data-token={token.kind}>
              <Marked text={token.text} />
            </span>
          ))
        }
      />
    </pre>
    <CopyButton text={text}>Copy</CopyButton>
  </div>
)
