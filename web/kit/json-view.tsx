import { Button } from '@mantine/core'
import { useMemo, useState, type KeyboardEvent } from 'react'
import { childrenOf, spanText, stringOf, valueAt, type JsonChild } from './json-scan.js'
import { wholeNumber } from './format.js'
import { copy, CopyButton } from './copy.js'
import { LongText } from './long-text.js'
import { Marked, Name } from './marked.js'

const PAGE = 100
const LARGE = 5_000_000
const BEGINNING = 65_536

interface JsonViewProps {
  readonly text: string
  readonly label: string
  /** The path of the value in its call, as filters name it. */
  readonly path?: string
}

/**
 * JSON of any size: rows only for what is open, all digits as they were written. The value and the path of a row are
 * copied with its buttons, or with keys: the rows are one stop of the Tab key.
 */
export const JsonView = ({ text, label, path = '' }: JsonViewProps) => {
  const [copied, setCopied] = useState('')
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
  const onCopy = (what: string, copiedText: string) =>
    void copy(copiedText).then(() => setCopied(`${what} copied`))
  return (
    <div role="group" aria-label={label} onKeyDown={moveOrCopy}>
      <div className="bar json-actions">
        <span className="secondary" role="status">
          {copied}
        </span>
        <CopyButton text={text}>Copy JSON</CopyButton>
      </div>
      <Value text={text} child={root} depth={0} path={path} isOpen onCopy={onCopy} />
    </div>
  )
}

/** Arrow keys move through the rows of the view and open them; `c` copies the value of a row and `C` its path. */
const moveOrCopy = (event: KeyboardEvent<HTMLElement>) => {
  const { key, target, currentTarget } = event
  const row = target instanceof HTMLElement ? target.closest<HTMLElement>('.json-row') : null
  if (row === null || event.ctrlKey || event.metaKey || event.altKey) return
  const click = (selector: string) => row.querySelector<HTMLElement>(selector)?.click()
  const move = (step: 1 | -1) => {
    const rows = [...currentTarget.querySelectorAll<HTMLElement>('.json-row[tabindex]')]
    rows[rows.indexOf(row) + step]?.focus()
  }
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    ArrowRight: () => click('[aria-expanded=false]'),
    ArrowLeft: () => click('[aria-expanded=true]'),
    c: () => click('[data-copies=value]'),
    C: () => click('[data-copies=path]'),
  }
  const action = actions[key]
  if (action === undefined) return
  event.preventDefault()
  action()
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
  /** '' for a whole text. */
  readonly path: string
  readonly index?: number
  readonly isOpen?: boolean
  readonly onCopy: (what: string, text: string) => void
}

const Value = ({ text, child, depth, path, index, isOpen: isOpenFirst = false, onCopy }: ValueProps) => {
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
  const copies = (
    <span className="json-copies">
      <button
        type="button"
        tabIndex={-1}
        data-copies="value"
        title="Copy the value (c)"
        onClick={() => {
          const raw = spanText(text, child)
          onCopy('Value', child.kind === 'string' ? stringOf(raw) : raw)
        }}
      >
        Copy value
      </button>
      {path !== '' && (
        <button
          type="button"
          tabIndex={-1}
          data-copies="path"
          title={`Copy the path ${path} (Shift+C)`}
          onClick={() => onCopy('Path', path)}
        >
          Copy path
        </button>
      )}
    </span>
  )
  if (!isContainer)
    return (
      <div
        className="json-row"
        style={depth === 0 ? undefined : afterMark(depth)}
        tabIndex={depth === 0 ? 0 : -1}
      >
        {label}
        <Leaf text={text} child={child} />
        {copies}
      </div>
    )
  const [open, close] = child.kind === 'object' ? '{}' : '[]'
  return (
    <>
      <div className="json-row" style={{ paddingLeft: depth * DEPTH_PX }} tabIndex={-1}>
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
        {copies}
      </div>
      {children.slice(0, shown).map((one, n) => (
        <Value
          key={one.from}
          text={text}
          child={one}
          depth={depth + 1}
          path={below(path, one.key ?? String(n))}
          onCopy={onCopy}
          {...(child.kind === 'array' ? { index: n } : {})}
          isOpen={depth < 1 && one.to - one.from < 4000}
        />
      ))}
      {children.length > shown && (
        <div className="json-row" style={afterMark(depth + 1)}>
          <button type="button" onClick={() => setShown(shown + PAGE)}>
            Show {PAGE} more
          </button>
        </div>
      )}
      {isOpen && (
        <div className="json-row" style={afterMark(depth)}>
          {close}
        </div>
      )}
    </>
  )
}

const DEPTH_PX = 16

/** A row without a mark to open it begins below the names of rows with one. */
const afterMark = (depth: number) => ({ paddingLeft: `calc(${depth * DEPTH_PX}px + 2ch)` })

const below = (path: string, key: string): string => {
  const part = key.replaceAll(/[\\.]/g, '\\$&')
  return path === '' ? part : `${path}.${part}`
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
