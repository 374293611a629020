// esbuild does not load the styles of a lazy chunk, so all are here. Mantine's are in the order of its `styles.css`.
import '@mantine/core/styles/baseline.css'
import '@mantine/core/styles/default-css-variables.css'
import '@mantine/core/styles/global.css'
import '@mantine/core/styles/ScrollArea.css'
import '@mantine/core/styles/UnstyledButton.css'
import '@mantine/core/styles/VisuallyHidden.css'
import '@mantine/core/styles/Paper.css'
import '@mantine/core/styles/Popover.css'
import '@mantine/core/styles/CloseButton.css'
import '@mantine/core/styles/Group.css'
import '@mantine/core/styles/Loader.css'
import '@mantine/core/styles/Overlay.css'
import '@mantine/core/styles/ModalBase.css'
import '@mantine/core/styles/Input.css'
import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Flex.css'
import '@mantine/core/styles/FloatingIndicator.css'
import '@mantine/core/styles/ActionIcon.css'
import '@mantine/core/styles/Button.css'
import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/Combobox.css'
import '@mantine/core/styles/Menu.css'
import '@mantine/core/styles/Modal.css'
import '@mantine/core/styles/PasswordInput.css'
import '@mantine/core/styles/Radio.css'
import '@mantine/core/styles/SegmentedControl.css'
import '@mantine/core/styles/Stack.css'
import '@mantine/core/styles/Switch.css'
import '@mantine/core/styles/Tabs.css'
import '@mantine/core/styles/Text.css'
import '@mantine/core/styles/Tooltip.css'
import 'uplot/dist/uPlot.min.css'
import './styles.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, readAsOf } from './kit/api.js'
import { headersAsOf, keyAsOf, rememberPosition } from './kit/as-of.js'
import { nonce } from './kit/boot.js'
import { Queries } from './kit/queries.js'
import { router } from './shell/router.js'
import { SessionProvider } from './kit/session.js'
import { cssVariables, theme } from './kit/theme.js'

// For the package that locks scrolling under dialogs.
setNonce(nonce)

readAsOf({ headers: headersAsOf, onPosition: rememberPosition })

/** Retries what may succeed later: the service is starting, catching up, or not reachable. */
const isTransient = (error: Error): boolean => !(error instanceof ApiError) || error.status === 503

const queries = new Queries({
  defaultOptions: {
    queries: {
      queryKeyHashFn: keyAsOf,
      staleTime: 30_000,
      retry: (failures, error) => failures < 3 && isTransient(error),
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retryAfter !== undefined
          ? error.retryAfter * 1000
          : 500 * 2 ** failures,
    },
  },
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <SessionProvider>
          <RouterProvider router={router} />
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
