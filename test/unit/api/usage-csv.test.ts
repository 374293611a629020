import assert from 'node:assert/strict'
import { csvText, type CsvCell } from '../../../src/api/usage/query/csv.js'

const cell = (one: CsvCell): string =>
  csvText(['a'], [[one]])
    .split('\r\n')
    .slice(1, -1)
    .join('\r\n')

describe('CSV', () => {
  it('has a header and ends each line as RFC 4180 says', () =>
    assert.equal(csvText(['a', 'b,c'], [[{ text: 'x' }, { plain: '1.5' }]]), 'a,"b,c"\r\nx,1.5\r\n'))

  for (const [text, written] of [
    ['plain', 'plain'],
    ['with "quotes"', '"with ""quotes"""'],
    ['a,b', '"a,b"'],
    ['two\nlines', '"two\nlines"'],
    [' blank ', '" blank "'],
    ['', '""'],
    ['2026-01-01', '2026-01-01'],
    ['a=b', 'a=b'],
    ['проект', 'проект'],
  ] as const)
    it(`writes text as it is: ${JSON.stringify(text)}`, () => assert.equal(cell({ text }), written))

  for (const text of [
    '=HYPERLINK("http://x","y")',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1+1',
    '\rx',
    '\nx',
    ' =1',
    '\u00a0@x',
    '＝1+1',
    '－1',
  ])
    it(`is no formula in a spreadsheet: ${JSON.stringify(text)}`, () => assert.match(cell({ text }), /^"?'/))

  it('has an empty cell for null, and writes numbers as they are', () => {
    assert.equal(csvText(['a', 'b'], [[null, { plain: '-1' }]]), 'a,b\r\n,-1\r\n')
    assert.equal(cell(null), '""')
  })
})
