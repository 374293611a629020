import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { childrenOf, spanText, stringOf, valueAt, type JsonChild } from './json-scan.js'
import { wholeNumber } from './format.js'
import { CopyButton } from './copy.js'
import { LongText } from './long-text.js'
import { Marked, Name } from './marked.js'

const PAGE = 100
const LARGE = 5_000_000
const BEGINNING = 65_536

/** JSON of any size: rows only for what is open, all digits as they were written. */
export const JsonView = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const [isOpenAnyway, setOpenAnyway] = useState(false)
  const root = useMemo(
    () => (text.length > LARGE && !isOpenAnyway ? undefined : valueAt(text, 0)),
    [text, isOpenAnyway],
  )
  if (root === undefined)
    return (
      <div className="form">
        <div className="notice">
          {label} has {wholeNumber(text.length)} characters. This is its beginning.
        </div>
        <pre className="code">
          <Marked text={text.slice(0, BEGINNING)} />
        </pre>
        <div className="bar">
          <Button size="compact-sm" variant="default" onClick={() => setOpenAnyway(true)}>
            Open anyway
          </Button>
          <Download text={text} name={label} />
        </div>
      </div>
    )
  return (
    <div role="group" aria-label={label}>
      <div className="bar" style={{ float: 'right' }}>
        <CopyButton text={text}>Copy JSON</CopyButton>
      </div>
      <Value text={text} child={root} depth={0} isOpen />
    </div>
  )
}

const Download = ({ text, name }: { readonly text: string; readonly name: string }) => (
  <Button
    size="compact-sm"
    variant="default"
    onClick={() => {
      const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
      const link = document.createElement('a')
      Object.assign(link, { href: url, download: `${name}.json` })
      link.click()
      URL.revokeObjectURL(url)
    }}
  >
    Download
  </Button>
)

interface ValueProps {
  readonly text: string
  readonly child: JsonChild
  readonly depth: number
  readonly index?: number
  readonly isOpen?: boolean
}

const Value = ({ text, child, depth, index, isOpen: isOpenFirst = false }: ValueProps) => {
  const [isOpen, setOpen] = useState(isOpenFirst)
  const [shown, setShown] = useState(PAGE)
  const isContainer = child.kind === 'object' || child.kind === 'array'
  const children = useMemo(
    () => (isContainer && isOpen ? childrenOf(text, child, shown + 1) : []),
    [text, child, isContainer, isOpen, shown],
  )
  const name = child.key ?? index
  const label =
    name === undefined ? null : (
      <span className="key">
        <Name text={String(name)} />:{' '}
      </span>
    )
  const padding = { paddingLeft: depth * 16 }
  if (!isContainer)
    return (
      <div className="json-row" style={padding}>
        {label}
        <Leaf text={text} child={child} />
      </div>
    )
  const [open, close] = child.kind === 'object' ? '{}' : '[]'
  return (
    <>
      <div className="json-row" style={padding}>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? '▾ ' : '▸ '}
          {label}
          {isOpen ? (
            open
          ) : (
            <>
              {open}{' '}
              <Name
                text={beginningOf(spanText(text, { ...child, to: Math.min(child.to, child.from + 200) }))}
              />{' '}
              {close}
            </>
          )}
        </button>
      </div>
      {children.slice(0, shown).map((one, n) => (
        <Value
          key={one.from}
          text={text}
          child={one}
          depth={depth + 1}
          {...(child.kind === 'array' ? { index: n } : {})}
          isOpen={depth < 1 && one.to - one.from < 4000}
        />
      ))}
      {children.length > shown && (
        <div className="json-row" style={{ paddingLeft: (depth + 1) * 16 }}>
          <button type="button" onClick={() => setShown(shown + PAGE)}>
            Show {PAGE} more
          </button>
        </div>
      )}
      {isOpen && (
        <div className="json-row" style={padding}>
          {close}
        </div>
      )}
    </>
  )
}

const beginningOf = (text: string): string => {
  const inner = text
    .slice(1)
    .replace(/[}\]]$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return inner.length > 60 ? `${inner.slice(0, 60)}…` : inner
}

const Leaf = ({ text, child }: { readonly text: string; readonly child: JsonChild }) => {
  const raw = spanText(text, child)
  return child.kind === 'string' ? (
    <bdi className="string">
      <LongText text={stringOf(raw)} />
    </bdi>
  ) : (
    <span className={child.kind === 'number' ? 'number' : undefined}>{raw}</span>
  )
}
