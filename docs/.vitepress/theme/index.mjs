/** The default theme with the reader's own fonts and a calm palette. */
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
