import { lexer, type Token, type Tokens } from 'marked'
import { Fragment, useMemo, type ReactNode } from 'react'
import { CodeBlock } from './long-text.js'
import { Marked } from './marked.js'
import { safeUrl } from './safe-url.js'

/** Markdown as React elements, so that nothing of it is ever HTML; line breaks are kept. Pictures are links. */
export const Markdown = ({ text }: { readonly text: string }) => {
  const tokens = useMemo(() => lexer(text, { gfm: true, breaks: true }), [text])
  return <div className="markdown">{rendered(tokens)}</div>
}

const rendered = (tokens: readonly Token[] | undefined): ReactNode =>
  (tokens ?? []).map((token, n) => <Fragment key={n}>{elementOf(token)}</Fragment>)

const HEADINGS = ['h3', 'h4', 'h5', 'h6'] as const

/** The library's types allow tokens of extensions, of which there are none. */
const elementOf = (token: Token): ReactNode => {
  const inner = () => rendered((token as Tokens.Generic).tokens)
  switch (token.type) {
    case 'heading': {
      const Heading = HEADINGS[Math.min(HEADINGS.length, (token as Tokens.Heading).depth) - 1]!
      return <Heading dir="auto">{inner()}</Heading>
    }
    case 'paragraph':
      return <p dir="auto">{inner()}</p>
    case 'strong':
      return <strong>{inner()}</strong>
    case 'em':
      return <em>{inner()}</em>
    case 'del':
      return <del>{inner()}</del>
    case 'blockquote':
      return <blockquote>{inner()}</blockquote>
    case 'code': {
      const { text, lang } = token as Tokens.Code
      return <CodeBlock text={text} language={/^\S*/.exec(lang ?? '')![0]} />
    }
    case 'codespan':
      return (
        <code className="mono">
          <Marked text={(token as Tokens.Codespan).text} />
        </code>
      )
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'space':
      return null
    case 'list': {
      const { ordered, start, items } = token as Tokens.List
      const children = items.map((item, n) => (
        <li key={n} dir="auto">
          {rendered(item.tokens)}
        </li>
      ))
      return ordered ? <ol start={start === '' ? 1 : start}>{children}</ol> : <ul>{children}</ul>
    }
    case 'link':
    case 'image': {
      const { href, text } = token as Tokens.Link
      return (
        <a href={safeUrl(href)} rel="noreferrer noopener" target="_blank">
          {token.type === 'link' ? inner() : text || href}
        </a>
      )
    }
    case 'table':
      return <MarkdownTable table={token as Tokens.Table} />
    case 'text':
      return (token as Tokens.Text).tokens === undefined ? (
        <Marked text={(token as Tokens.Text).text} isProse />
      ) : (
        inner()
      )
    case 'escape':
      return (token as Tokens.Escape).text
    default:
      return <Marked text={token.raw} isProse />
  }
}

const MarkdownTable = ({ table }: { readonly table: Tokens.Table }) => (
  <div className="scroll">
    <table>
      <thead>
        <tr>
          {table.header.map((cell, n) => (
            <th key={n} dir="auto">
              {rendered(cell.tokens)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, n) => (
          <tr key={n}>
            {row.map((cell, at) => (
              <td key={at} dir="auto">
                {rendered(cell.tokens)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
