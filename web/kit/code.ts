export interface CodeToken {
  readonly text: string
  readonly kind: 'comment' | 'string' | 'number' | 'keyword' | undefined
}

const HASH = String.raw`#[^\n]*`
const SLASHES = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`
const DASHES = String.raw`--[^\n]*`

const WORDS_OF_SCRIPTS =
  'async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield'
const WORDS_OF_C =
  'auto bool break case char class const continue default defer do double else enum false final float fn for func go if impl import int interface let long loop match mod mut nil null package private public return self static string struct super switch this throw true try type unsafe use var void while'

/** Comments and keywords, by the names that code blocks have after their backticks. */
const LANGUAGES: readonly (readonly [names: string, comments: string, keywords: string])[] = [
  ['js javascript jsx ts typescript tsx mjs', SLASHES, WORDS_OF_SCRIPTS],
  [
    'py python python3',
    HASH,
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield',
  ],
  ['c cpp c++ cs csharp go golang java kotlin rust rs swift php scala', SLASHES, WORDS_OF_C],
  [
    'sh bash shell zsh console',
    HASH,
    'case do done elif else esac export fi for function if in local return then while',
  ],
  [
    'sql postgres postgresql mysql sqlite clickhouse',
    DASHES,
    'and as asc between by case create delete desc distinct drop else end exists from full group having in inner insert into is join left like limit not null offset on or order outer right select set table then union update values when where with',
  ],
  [
    'yaml yml toml ini dockerfile ruby rb',
    HASH,
    'class def do else end false if module nil null return self true unless',
  ],
  ['json jsonc json5', SLASHES, 'false null true'],
]

const STRING = String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|${'`'}(?:\\[\s\S]|[^${'`'}\\])*${'`'}?`
const NUMBER = String.raw`\b\d[\w.]*`
const WORD = String.raw`[A-Za-z_$][\w$]*`

interface Lexer {
  readonly pattern: RegExp
  readonly keywords: ReadonlySet<string>
  readonly ignoresCase: boolean
}

const LEXERS: ReadonlyMap<string, Lexer> = new Map(
  LANGUAGES.flatMap(([names, comments, keywords]) => {
    const pattern = new RegExp(`(${comments})|(${STRING})|(${NUMBER})|(${WORD})`, 'g')
    const lexer = { pattern, keywords: new Set(keywords.split(' ')), ignoresCase: comments === DASHES }
    return names.split(' ').map((name) => [name, lexer] as const)
  }),
)

/** The parts of code to colour, which together are the text. One part if the language is not known. */
export const codeTokens = (text: string, language: string): readonly CodeToken[] => {
  const lexer = LEXERS.get(language.toLowerCase())
  if (lexer === undefined) return [{ text, kind: undefined }]
  const tokens: CodeToken[] = []
  let plain = 0
  for (const match of text.matchAll(lexer.pattern)) {
    const [token, comment, string, number, word] = match
    const isKeyword = word !== undefined && lexer.keywords.has(lexer.ignoresCase ? word.toLowerCase() : word)
    if (word !== undefined && !isKeyword) continue
    if (plain < match.index) tokens.push({ text: text.slice(plain, match.index), kind: undefined })
    const kind =
      comment !== undefined
        ? 'comment'
        : string !== undefined
          ? 'string'
          : number !== undefined
            ? 'number'
            : 'keyword'
    tokens.push({ text: token, kind })
    plain = match.index + token.length
  }
  if (plain < text.length) tokens.push({ text: text.slice(plain), kind: undefined })
  return tokens
}
