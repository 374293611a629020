import { createTheme, type CSSVariablesResolver } from '@mantine/core'

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

export const theme = createTheme({
  fontFamily: FONT,
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontFamily: FONT, fontWeight: '600' },
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '15px', xl: '20px' },
  defaultRadius: 4,
  cursorType: 'pointer',
  respectReducedMotion: true,
  primaryColor: 'teal',
  components: {
    // Typing and Enter choose.
    Select: { defaultProps: { selectFirstOptionOnChange: true, openOnFocus: false } },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Input: { defaultProps: { attributes: { input: { dir: 'auto' } } } },
  },
})

/** Maps our tokens, which `styles.css` declares for both schemes, to Mantine's variables. */
export const cssVariables: CSSVariablesResolver = () => {
  const both = {
    '--mantine-color-body': 'var(--bg)',
    '--mantine-color-text': 'var(--text)',
    // the text on filled buttons and check marks
    '--mantine-color-white': 'var(--on-accent)',
    '--mantine-color-dimmed': 'var(--text-2)',
    '--mantine-color-placeholder': 'var(--text-3)',
    '--mantine-color-anchor': 'var(--accent)',
    '--mantine-color-error': 'var(--danger)',
    '--mantine-color-default': 'var(--bg)',
    '--mantine-color-default-hover': 'var(--bg-hover)',
    '--mantine-color-default-color': 'var(--text)',
    '--mantine-color-default-border': 'var(--control)',
    '--mantine-color-disabled': 'var(--bg-hover)',
    '--mantine-color-disabled-color': 'var(--text-3)',
    '--mantine-color-teal-filled': 'var(--accent)',
    '--mantine-color-teal-filled-hover': 'var(--accent)',
    '--mantine-primary-color-filled': 'var(--accent)',
    '--mantine-primary-color-filled-hover': 'var(--accent)',
    '--mantine-primary-color-contrast': 'var(--on-accent)',
    '--mantine-color-red-filled': 'var(--danger)',
    '--mantine-color-red-filled-hover': 'var(--danger)',
    '--mantine-line-height': '20px',
  }
  return { variables: {}, light: both, dark: both }
}
